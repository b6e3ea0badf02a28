"""Integer arithmetic around the limits of one and two digits and of a machine word."""

EDGES = [0, 1, 2, 3, 7, 255, 256, 257, 2**15, 2**29, 2**30 - 1, 2**30, 2**30 + 1, 2**31, 2**32, 2**59, 2**60 - 1, 2**60,
         2**60 + 1, 2**61, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64, 2**90, 10**30]
EDGES += [-n for n in EDGES if n]


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def neg(a):
    return -a, +a, ~a, abs(a)


def climb(n, step):
    x = 1
    for _ in range(n):
        x = x * 3 + step
    return x


def hover(n):
    """Stays small, then leaves one digit, two digits and a word, one after the other."""
    s = 0
    seen = []
    for i in range(n):
        if i == 400:
            s += 2**30
        elif i == 420:
            s += 2**60
        elif i == 440:
            s += 2**63
        elif i == 460:
            s -= 2**63 + 2**60
        s += i
        if i % 50 == 0:
            seen.append(s)
    return s, seen


def down_to_limit(n):
    x = -(2**63) + n
    while x > -(2**63) - n:
        x -= 1
    return x


def mixed_sum(values):
    total = 0
    for v in values:
        total = total * 31 + v
        total = total - (total // 1000003) * 1000003
    return total


digest = 0
for a in EDGES:
    for b in EDGES:
        digest = (digest * 1000003 + add(a, b) * 7 + sub(a, b) * 11 + mul(a, b)) % (2**61 - 1)
print(digest)
for a in EDGES:
    print(a, *neg(a))
print(climb(300, 1) % 10**20, climb(300, -5) % 10**20)
print(hover(500))
print(down_to_limit(400))
print(mixed_sum(list(range(600)) + [2**30, 2**60, 2**63, -(2**64), True]))
for bad in ("x", None, [1], 1j):
    try:
        print(repr(add(1, bad)))
    except TypeError as error:
        print(type(error).__name__, error)
    try:
        print(repr(mul(2, bad)))
    except TypeError as error:
        print(type(error).__name__, error)
try:
    print(sub("a", 1))
except TypeError as error:
    print(error)
