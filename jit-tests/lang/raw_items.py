"""Subscripts of arrays, bytes and bytearrays, whose items are no objects: each kind of number with its limits, and what a
subscript meets when it has long been compiled for something else."""
import sys
import traceback
from array import array


def get(a, i):
    return a[i]


def put(a, i, x):
    a[i] = x


def total(a):
    t = 0
    for i in range(len(a)):
        t += a[i]
    return t


def shift(a, by):
    for i in range(len(a)):
        a[i] = a[i] + by
    return a


def attempt(f, *args):
    try:
        return f(*args)
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1]
        return f"{type(e).__name__}: {e} at {where.name} {where.lineno} {where.colno}"


# Made anew for each kind, so that each is compiled for that kind alone.
SOURCE = """
def total(a):
    t = 0
    for i in range(len(a)):
        t += a[i]
    return t
def shift(a, by):
    for i in range(len(a)):
        a[i] = a[i] + by
    return a
def get(a, i):
    return a[i]
def put(a, i, x):
    a[i] = x
"""

LIMITS = {
    "b": (-128, 127), "B": (0, 255), "h": (-2**15, 2**15 - 1), "H": (0, 2**16 - 1), "i": (-2**31, 2**31 - 1),
    "I": (0, 2**32 - 1), "l": (-2**63, 2**63 - 1), "L": (0, 2**64 - 1), "q": (-2**63, 2**63 - 1), "Q": (0, 2**64 - 1),
}

for code, (low, high) in LIMITS.items():
    made = {}
    exec(SOURCE, made)
    a = array(code, [low, high, 1, 0, 7] * 20)
    print(code, made["total"](a), made["total"](a))
    small = array(code, range(100))
    for _ in range(8):
        made["shift"](small, 1)
    print(small[0], small[99], made["total"](small))
    for n in range(600):
        made["put"](a, n % 100, n % 100)
        assert made["get"](a, n % 100) == n % 100
        assert made["get"](a, -1 - n % 100) == a[99 - n % 100]
    for x in (low, high, low - 1, high + 1, -1, 1.5, "x", None, True):
        print(code, x, attempt(made["put"], a, 3, x), made["get"](a, 3))
    for i in (100, -101, 2**70, -2**70, 1.0, "x", True, slice(1, 4)):
        print(code, repr(i), attempt(made["get"], a, i), attempt(made["put"], a, i, 1))

for code in "df":
    made = {}
    exec(SOURCE, made)
    a = array(code, [0.5, -0.0, 1e300 if code == "d" else 1e30, float("inf"), float("nan")] * 30)
    for n in range(600):
        made["put"](a, n % 150, made["get"](a, n % 150))
    print(code, a[:5], made["total"](a))
    for x in (1.25, -0.0, 3, 2**60 + 1, 10**400, True, "x", None):
        print(code, str(x)[:30], attempt(made["put"], a, -1, x), repr(a[-1]))
    print(code, attempt(made["get"], a, 150), attempt(made["put"], a, -151, 0.0))


class Kept(array):
    def __getitem__(self, i):
        return ("kept", array.__getitem__(self, i))


class Byte(int):
    pass


def others():
    """The same subscripts meet other kinds, classes and lists."""
    a = array("d", [1.0] * 50)
    for _ in range(40):
        shift(a, 0.5)
    print(total(a), a[0])
    for other in (array("i", range(50)), list(range(50)), bytearray(range(50)), array("q", range(50)), array("f", range(50))):
        print(type(other).__name__, total(other), shift(other, 1)[49], total(other))
    print(attempt(total, Kept("d", [1.0, 2.0])), attempt(total, b"abc"), attempt(shift, b"abc", 1), attempt(total, "abc"))
    print(total({0: 1, 1: 2}), total(memoryview(b"xyz")))
    print(attempt(total, array("w", "abc")))


def filled():
    b = bytearray(256)
    for turn in range(12):
        for i in range(256):
            b[i] = (b[i] + i) & 255
    print(bytes(b[:8]), total(b))
    for x in (256, -1, 255, Byte(7), 1.0, "a", None, True):
        print(repr(x), attempt(put, b, 0, x), b[0])
    text = bytes(b)
    t = 0
    for turn in range(12):
        for i in range(len(text)):
            t += text[i] ^ text[-i]
    print(t, attempt(get, text, 256), attempt(get, text, -257), attempt(put, text, 0, 1))


def resized():
    """The memory moves, and the length changes, while the loop runs."""
    a = array("d", [1.0])
    t = 0.0
    for i in range(3000):
        t += a[i]
        if i % 7 == 0:
            a.append(a[i // 2] + 1)
        else:
            a.extend([0.5])
        if i == 2500:
            while len(a) > 2400:
                a.pop()
            break
    try:
        for i in range(2000, 3000):
            t += a[i]
    except IndexError as e:
        print(e, i, len(a))
    print(t)


class Grid:
    def __init__(self, n):
        self.rows = [array("d", [float(i + j) for i in range(n)]) for j in range(n)]

    def step(self):
        rows = self.rows
        for y in range(1, len(rows) - 1):
            above, row, below = rows[y - 1], rows[y], rows[y + 1]
            for x in range(1, len(row) - 1):
                row[x] = 0.25 * (above[x] + below[x] + row[x - 1] + row[x + 1]) * 1.01
        rows[0][0] += 1
        rows[-1][-1] -= rows[0][0]


def exported():
    """A view of the memory sees what is stored, and nothing is stored twice."""
    a = array("d", [0.0] * 64)
    view = memoryview(a)
    for turn in range(20):
        for i in range(64):
            a[i] = view[i] + a[i] + 1
    print(view[0], view[63], sys.getrefcount(a) - 1)
    seen = []
    x = 12345.678
    before = sys.getrefcount(x)
    for i in range(64):
        a[i] = x
        seen.append(a[i] is x)
    print(sys.getrefcount(x) - before, any(seen))


others()
filled()
resized()
grid = Grid(30)
for _ in range(20):
    grid.step()
print(repr(sum(map(sum, grid.rows))))
exported()
