"""Names of a module in hot loops: whoever may look at the module's dict finds what the program has stored, and in its order."""

import gc
import sys

N = 2400


def look(*names):
    return tuple(globals().get(name, "unbound") for name in names)


# Nobody looks in the loop.
i = total = 0
ratio = 1.5
flag = False
while i < N:
    total += i * i % 7
    ratio = ratio * 0.999 + i
    flag = not flag
    i += 1
print(i, total, ratio, flag, look("i", "total", "ratio", "flag"))

# Somebody looks now and then.
seen = []
count = 0
for i in range(N):
    count += i & 3
    if i % 800 == 799:
        seen.append(look("i", "count", "seen") == (i, count, seen))
        seen.append(globals()["count"])
print(i, count, seen)

# Somebody looks and meddles each time.
def step():
    global count
    count += 1
    return i


moved = 0
for i in range(N):
    moved += step() == i
    count -= 1
print(moved, count)


def meddle():
    global i, count
    i += 1
    count = count * 0.5 if count > 9 else count + 1000


i = count = 0
while i < N:
    i += 1
    count += i
    if i % 100 == 7:
        meddle()
print(i, count)

# Branches, nesting, break, continue, else.
found = hits = misses = 0
for a in range(60):
    for b in range(60):
        if (a * b) % 3 == 1:
            continue
        hits += 1
        if b > a:
            break
    else:
        misses += a
    while b > 0:
        b -= 3
        found += b
print(a, b, hits, misses, found)

# Values that change their kind, and grow.
value = 1
for i in range(N):
    value = value * 3 + i
    if value > 2**70:
        value %= 1000003
    if i == 1800:
        value = float(value)
    if i == 1900:
        value = int(value)
print(value)
text = ""
best = None
for i in range(N):
    last = (i * 7919) % 2003
    if best is None or last > best:
        best = last
    text = "ab" if text == "a" else "a"
print(best, last, text)
n = 0
while n < N:
    n += 1
    if n == N - 5:
        n = n + 0.5
print(n)
switch = 0
for i in range(N):
    switch = i if i % 2 else i * 0.5
    if i > N - 3:
        switch = str(switch)
print(switch)


# What a store frees is freed by it.
class Marked:
    def __init__(self, tag):
        self.tag = tag

    def __del__(self):
        deaths.append((self.tag, *look("i", "holder", "total")))


deaths = []
holder = 0
total = 0
for i in range(N):
    total += 1
    if i % 600 == 599:
        holder = Marked(i)
    elif i % 600 == 1:
        holder = i
    else:
        holder += 0 if i % 600 else 1
        holder if i % 600 else None
    if i % 600 == 599:
        holder = i
print(deaths, holder)
deaths.clear()
for i in range(N):
    total = i
    holder = Marked(i) if i % 500 == 0 else i
holder = 0
print(deaths)
deaths.clear()
for item in [Marked(0), 1, 2.5, Marked("x")] * 3 + list(range(N)):
    total += 1
    item = None
for item in [Marked("end")]:
    pass
item = None
print(deaths, total)

# References.
thing = Marked("counted")
base = sys.getrefcount(thing)
for i in range(N):
    other = thing
    if i % 700 == 3:
        total = sys.getrefcount(thing) - base
    other = total
print(total, sys.getrefcount(thing) - base)
for i in range(N):
    other = thing
    third = other
print(sys.getrefcount(thing) - base)
deaths.clear()
del other, third, thing
print(len(deaths))

# Names that come and go.
before = list(globals())
for i in range(N):
    fresh = i
    if i % 2:
        newer = i
    if i % 900 == 5:
        del fresh
        newest = i
print([name for name in globals() if name not in before], look("fresh", "newer", "newest"))
del newer
try:
    for i in range(N):
        fresh = i * 2
        if i == N - 10:
            del fresh
        total = fresh
except NameError as error:
    print(error, error.__traceback__.tb_lineno, look("i", "fresh", "total"))
try:
    for i in range(N):
        total = i
        if i > N - 10:
            newer
except NameError as error:
    print(error, error.__traceback__.tb_lineno, total)


def drop():
    del globals()["total"]


try:
    for i in range(N):
        total = i
        if i == N - 10:
            drop()
        total += 1
except NameError as error:
    print(error, error.__traceback__.tb_lineno, look("i", "total"))

# The dict grows, is reordered, and gets keys that are no strings.
total = 0
for i in range(N):
    total += i
    if i % 3 == 0 and i < 1800:
        globals()[f"made{i}"] = i
    elif 1800 <= i < 2400 and i % 3 == 0:
        del globals()[f"made{i - 1800}"]
    total -= 1
print(total, look("made0", "made1797", "made600"))
for name in [name for name in globals() if name.startswith("made")]:
    del globals()[name]
total = 0
for i in range(N):
    total += i
    if i == 2000:
        globals()[5] = "five"
    if i == 2200:
        globals().pop("total")
        globals()["total"] = 7
print(total, list(globals())[-1], globals().pop(5))


class Same:
    """A key with the hash of a name."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        looks.append((other, *look_exactly("i", "total")))
        return False


def look_exactly(*names):
    return [value for name, value in list(globals().items()) if type(name) is str and name in names]


looks = []
total = 0
space = {"looks": looks, "Same": Same, "N": N, "range": range}
exec(
    """
def f():
    globals()[Same("total")] = 1
total = 0
for i in range(N):
    total += i
    if i == 2390:
        del total
        f()
        total = 5
""",
    space,
)
print(space["total"], len(looks) > 0)

# A function that was compiled with a name's value, and the loop that changes it.
scale = 2


def scaled(x):
    return x * scale


total = 0
for i in range(N):
    total += scaled(i)
    if i % 1000 == 999:
        scale += 1
print(total, scale)
for i in range(N):
    scale = i
    total += scaled(1)
print(total)
for k in range(3):
    for i in range(N):
        scale = i
    print(scaled(1))

# Builtins and what hides them.
count = 0
for i in range(N):
    count += len("abc") + abs(-i)
    if i == 2000:
        globals()["len"] = lambda s: 10
    if i == 2200:
        del globals()["len"]
print(count)

# Other code of the same kind: a class body, exec with locals of its own, the module's functions.
class Body:
    acc = 0
    for j in range(N):
        acc += j
    k = look("j", "acc")


print(Body.acc, Body.j, Body.k)
code = compile("s = 0\nfor i in range(limit):\n    s += i\n    t = i\nresult = s, i, t\n", "<made>", "exec")
for _ in range(3):
    inner, outer = {}, {"limit": N}
    exec(code, outer, inner)
    print(inner["result"], sorted(outer.keys() - {"__builtins__"}))
    outer = {"limit": N}
    exec(code, outer)
    print(outer["result"], list(outer)[2:])
for _ in range(40):
    outer = {"limit": 100}
    exec(code, outer)
    del outer
gc.collect()
print([x + total for x in range(3) for total in range(2)], look("x"))
print(sum(i for i in range(total % 50)), look("i"))
total = 0
for i in range(N):
    total += sum([j for j in (i, total % 3)])
    try:
        if i % 1000 == 9:
            raise ValueError(total)
        total += 1
    except ValueError as error:
        total -= error.args[0] % 10
print(total, look("error"))
assert locals() is globals() and vars() is globals()
for i in range(N):
    total = total * 3 % 1000003
    if i == N - 4:
        total / (N - 4 - i)
