"""Hot loops at module level: names of the module, changing kinds, functions that change them, errors, class bodies."""

total = 0
for i in range(600):
    total += i * 2
print(i, total)

n = 0
while n < 500:
    n += 1
    if n == 490:
        n = 490.5
print(n)

x = 1
for step in range(400):
    x = x * 3 + step
    if x > 2**62:
        x = x % 1000003
print(x)


def meddle(k):
    global value
    value = value + k if k < 390 else 0.5


value = 0
for k in range(400):
    meddle(k)
    value += 1
print(value)

words = {}
for w in ("the cat and the dog and the bird " * 50).split():
    words[w] = words.get(w, 0) + 1
print(sorted(words.items()))

try:
    for i in range(400):
        if i == 395:
            del total
        total += 1
except NameError as error:
    print(error, error.__traceback__.tb_lineno)

total = 5
names = []
for i in range(400):
    if i == 390:
        globals()["total"] = "text"
    if i > 389:
        names.append(total)
    else:
        total += i
print(total, len(names))

len_before = len
count = 0
for i in range(400):
    count += len("ab")
    if i == 380:
        len = lambda s: 100
del len
print(count, len is len_before)


class Body:
    squares = []
    acc = 0
    for j in range(400):
        acc += j
        squares.append(acc)
    del j


print(Body.acc, len(Body.squares), hasattr(Body, "j"))
space = {"limit": 400}
exec("s = 0\nfor i in range(limit):\n    s += i\nresult = s, i\n", space)
print(space["result"])
ns = {"s": 1}
exec("for i in range(400): s += i", {}, ns)
print(ns)


class Watching(dict):
    def __setitem__(self, k, v):
        seen.append(k)
        dict.__setitem__(self, k, v)


seen = []
local = Watching()
exec("t = 0\nfor i in range(300):\n    t = t + i\n", {}, local)
print(local["t"], len(seen))
outer = 0
for a in range(40):
    for b in range(40):
        if (a + b) % 3:
            continue
        outer += a * b
        if outer > 20000:
            break
    else:
        outer -= 1
print(a, b, outer)
pairs = [(q, q * q) for q in range(300)]
for q, r in pairs:
    total = q - r
print(total)
for i in range(400):
    last = 10 // (399 - i)
