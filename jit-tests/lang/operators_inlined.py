"""Operators whose methods stand in their callers' code: what they do where that is left, and that nobody can tell."""

import gc
import sys
import traceback


class Num:
    """All operators, small enough to be put into callers."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return self.x + other

    def __radd__(self, other):
        return other * 100 + self.x

    def __sub__(self, other):
        if other < 0:
            return NotImplemented
        return self.x - other

    def __mul__(self, other):
        return self.x * other.x

    def __lt__(self, other):
        return self.x < other

    def __le__(self, other):
        # No bool: the caller may want its truth.
        return self.x - other

    def __eq__(self, other):
        return self.x == other.x

    def __neg__(self):
        return -self.x

    def __invert__(self):
        return ~self.x

    def __getitem__(self, i):
        return self.x + i

    def __setitem__(self, i, v):
        self.x = i + v

    def __iadd__(self, other):
        return self.x + other


class Grid:
    """Coordinates as a tuple."""

    def __init__(self, w, h):
        self.w = w
        self.h = h
        self.data = [0] * (w * h)

    def _at(self, x, y):
        if 0 <= x < self.w and 0 <= y < self.h:
            return y * self.w + x
        raise IndexError((x, y))

    def __getitem__(self, at):
        x, y = at
        return self.data[self._at(x, y)]

    def __setitem__(self, at, v):
        x, y = at
        self.data[self._at(x, y)] = v


def show(f, *args):
    try:
        print(f.__name__, f(*args))
    except BaseException as e:
        print(f.__name__, type(e).__name__, e)
        for line in traceback.format_tb(e.__traceback__):
            print("   ", line.strip().replace("\n", " | "))


# Plain use, and bets that fail in the method: another class of number, too large a number.

def sums(a, values):
    total = 0
    for v in values:
        total = total + (a + v) + (a - v) + a[v] + -a + ~a
        total += v + a
        if a < v:
            total += 1
        if a <= v:
            total += 2
        total += (a < v) + (a <= v)
    return total


def items(a, values):
    for v in values:
        a[v] = v + 1
        a[v] = a[v]
    return a.x


def equals(a, others):
    return [a == b for b in others], [1 if a == b else 0 for b in others]


a = Num(3)
for _ in range(40):
    sums(a, range(6))
    items(Num(0), range(6))
    equals(a, [a, Num(4)])
print(sums(a, range(6)), items(a, range(6)), equals(a, [a, Num(a.x), Num(0)]))
a = Num(3)
show(sums, a, [1, 2.5, 3])
show(sums, a, [1, 2**70, True])
show(sums, Num(2**62), [2**62, 5])
show(sums, Num(1.5), [1.25, 5])
show(items, Num(0), [1, 2**63, 1.5])
show(equals, a, [a, Num(3.0), Num("3"), Num(2**70)])
show(sums, a, ["x"])
show(items, a, [1, "x"])
show(equals, a, [a, 3])


# `NotImplemented`, what is asked then, and what is raised if nobody knows.

class Right:
    def __init__(self, v):
        self.v = v

    def __rsub__(self, other):
        return ("rsub", self.v)

    def __lt__(self, other):
        return self.v < other

    def __gt__(self, other):
        return [self.v]


def less(a, b):
    return a - b


def less_in_place(a, b):
    a -= b
    return a


for k in range(60):
    less(a, k)
    less_in_place(a, k)
for b in (5, -5, -2.5, Right(1)):
    show(less, a, b)
    show(less_in_place, a, b)


class Declines:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if self.x == 0:
            return NotImplemented
        return self.x

    def __lt__(self, other):
        if self.x == 0:
            return NotImplemented
        return self.x

    __eq__ = __lt__
    __hash__ = None


def both(a, b):
    return a + b, a < b, a == b, 1 if a < b else 2, 3 if a == b else 4


class Answers:
    def __radd__(self, other):
        return "radd"

    def __gt__(self, other):
        return []

    def __eq__(self, other):
        return ""


for k in range(60):
    both(Declines(1), 2)
    both(Declines(2), Answers())
show(both, Declines(1), 2)
show(both, Declines(0), 2)
show(both, Declines(0), Answers())
show(both, Declines([]), Answers())
show(less_in_place, Declines(0), 2)


# Reflected: the right operand's method, with itself first.

def reflected(b, values):
    total = 0
    for v in values:
        total = total + (v + b) + (1 if v < b else 0)
    return total


class Back:
    def __init__(self, x):
        self.x = x

    def __radd__(self, other):
        if self.x == 77:
            return NotImplemented
        return self.x + other * 2

    def __gt__(self, other):
        if self.x == 77:
            return NotImplemented
        return self.x > other


for _ in range(40):
    reflected(Back(1), range(5))
show(reflected, Back(1), range(5))
show(reflected, Back(1), [1, 2.5, 2**70])
show(reflected, Back(77), range(5))
show(reflected, Back("a"), range(5))


class Gives:
    """Its result is an operand, whose truth the caller wants."""

    def __lt__(self, other):
        return other


def truth_of(a, v):
    return 1 if a < v else 2


gives_it = Gives()
for k in range(200):
    truth_of(gives_it, k)
for v in (0, 5, 2**70, -2**64, 0.0, "", None, []):
    show(truth_of, gives_it, v)


class DerivedNum(Num):
    def __radd__(self, other):
        return "derived"


def plus(a, b):
    return a + b


for k in range(60):
    plus(a, k)
show(plus, a, DerivedNum(2))
show(plus, DerivedNum(2), a)


# Coordinates.

def smooth(g, n):
    for _ in range(n):
        for y in range(1, g.h - 1):
            for x in range(1, g.w - 1):
                g[x, y] = (g[x, y - 1] + g[x - 1, y] + g[x, y] + 1) % 1000
    return g[g.w - 2, g.h - 2]


def corner(g, at):
    g[at] = g[at] + 1
    return g[at]


g = Grid(7, 6)
print(smooth(g, 9), corner(g, (1, 2)))
for _ in range(50):
    corner(g, (1, 2))
show(corner, g, (2, 2))
show(corner, g, (7, 2))
show(corner, g, (1, 2, 3))
show(corner, g, [3, 2])
show(corner, g, 3)
show(corner, g, (True, 2))
show(corner, g, (1.0, 2))
g.h = 9
show(smooth, g, 2)
g = Grid(7, 6)
g.data[20] = 1.5
show(smooth, g, 2)
g.data[20] = "x"
show(smooth, g, 2)
print(sys.getrefcount(g) - sys.getrefcount(Grid(1, 1)) >= 0)


# What is seen of the frames from within, and what is changed there.

class Spy:
    """An operand of the operation in the method, which leaves it for the interpreter."""

    def __init__(self, do):
        self.do = do

    def act(self):
        self.do()
        return 5

    def __radd__(self, other):
        return self.act()

    def __rmul__(self, other):
        return self.act()

    def __gt__(self, other):
        return self.act()

    def __add__(self, other):
        return self.act()


def frames():
    f = sys._getframe(3)
    while f is not None and f.f_code.co_name != "<module>":
        spots = list(f.f_code.co_positions())[f.f_lasti // 2]
        print("  frame", f.f_code.co_name, f.f_lineno - f.f_code.co_firstlineno, spots[2:], sorted(f.f_locals))
        f = f.f_back


def all_of(a, v, w):
    x = a + v
    y = (a[v], 1 if a < v else 2)
    try:
        a[w] = v
    except TypeError as e:
        print("  ", e)
    return x, y, a * w


def use_all(v):
    return all_of(Num(3), v, Num(2))


for k in range(60):
    try:
        all_of(Num(3), k, 2)
    except AttributeError:
        pass
show(use_all, Spy(frames))


def change():
    a.__class__ = Changed


class Changed(Num):
    def __add__(self, other):
        return "changed"

    def __getitem__(self, i):
        return "changed item"

    def __lt__(self, other):
        return "changed less"


def twice(a, v):
    return a + v, a[v], a < v


for k in range(60):
    twice(a, k)
show(twice, a, Spy(change))
a.__class__ = Num
show(twice, a, 4)


def redefine():
    Num.__getitem__ = lambda self, i: "redefined"


def restore():
    Num.__getitem__ = kept


kept = Num.__getitem__
show(twice, a, Spy(redefine))
show(twice, a, 4)
show(twice, a, Spy(restore))
show(twice, a, 4)


def switch():
    def tracer(frame, event, arg):
        name = frame.f_code.co_name
        if name in ("twice", "__add__", "__getitem__", "__lt__", "all_of"):
            if event != "opcode":
                print("  ", name, event, frame.f_lineno - frame.f_code.co_firstlineno)
        return tracer

    frame = sys._getframe(2)
    sys.settrace(tracer)
    while frame is not None:
        frame.f_trace = tracer
        frame = frame.f_back


def traced():
    try:
        return twice(a, Spy(switch))
    finally:
        sys.settrace(None)


for k in range(60):
    twice(a, k)
show(traced)


def tell():
    raise KeyError("from within")


show(twice, a, Spy(tell))


def handled(a, v):
    seen = []
    for k in (v, 1):
        try:
            seen.append(a + k)
        except KeyError as e:
            seen.append(e.args)
            seen.append(e.__traceback__.tb_next.tb_frame.f_code.co_name)
        finally:
            seen.append(a[1])
    return seen


for k in range(60):
    handled(a, k)
show(handled, a, Spy(tell))


# Operands die when the operator is through, the left one first; with an exception too.

class Loud:
    def __init__(self, x, name):
        self.x = x
        self.name = name

    def __del__(self):
        print("  gone", self.name)

    def __add__(self, other):
        return self.x + other.x

    def __lt__(self, other):
        return self.x

    def __getitem__(self, other):
        return self.x

    def __setitem__(self, i, v):
        self.x = i.x


def temporaries(x, y):
    print("  add", Loud(x, "a") + Loud(y, "b"))
    print("  less", "yes" if Loud(x, "c") < Loud(y, "d") else "no")
    if sys.version_info < (3, 14):
        print("  item", Loud(x, "e")[Loud(y, "f")])
    else:
        # The interpreter drops the index first, but only once it has specialised the instruction.
        print("  item", Loud(x, "e")[y])
    Loud(x, "g")[Loud(y, "h")] = Loud(x, "i")
    print("  end")


class NoTruth:
    def __bool__(self):
        raise ValueError("no truth")

    def __add__(self, other):
        return "sum"

    def __repr__(self):
        return "NoTruth"


out, sys.stdout = sys.stdout, open("/dev/null", "w")
for k in range(60):
    temporaries(k, k + 1)
sys.stdout = out
show(temporaries, 1, 2)
show(temporaries, 1, 2.5)
show(temporaries, 1, None)
show(temporaries, [], [NoTruth()])
show(temporaries, NoTruth(), NoTruth())


# In generators, in comprehensions, in methods that are themselves put into their callers, and at module level.

def gives(a, values):
    for v in values:
        yield a + v
        yield a[v]


def listed(a, values):
    return [a[v] + (a + v) for v in values if a < v + 9]


class Outer:
    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        return self.a + other

    @property
    def first(self):
        return self.a[0]

    def at(self, i):
        return self.a[i] + self.a[i]

    def __getitem__(self, i):
        return self.at(i)


def nested(o, values):
    total = 0
    for v in values:
        total = total + (o + v) + o.first + o.at(v) + o[v]
    return total


for _ in range(40):
    list(gives(a, range(5))), listed(a, range(5)), nested(Outer(a), range(5))
show(lambda: list(gives(a, [1, 2.5, 2**70])))
show(listed, a, [1, 2.5, 2**70])
show(nested, Outer(a), [1, 2.5, 2**70])
show(nested, Outer(a), [1, "x"])
show(nested, Outer(Grid(3, 3)), [(1, 1)])
show(nested, Outer([5, 6, 7, 8]), [1, 2, 9])
total = 0
for k in range(100):
    total = total + (a + k)
    a[k] = 3
    if k == 90:
        a.x = 2**62
print(total, a.x)
total = 0
a = Num(3)
for k in list(range(80)) + [2.5, 2**70]:
    total = total + (a + k) + a[k]
print(total)


class Recursive:
    def __init__(self, inner):
        self.inner = inner

    def __getitem__(self, i):
        if self.inner is None:
            return i
        return self.inner[i]


def depth(r, i):
    return r[i]


r = None
for k in range(5):
    r = Recursive(r)
for k in range(60):
    depth(r, k)
show(depth, r, 4)
deep = r
for k in range(900):
    deep = Recursive(deep)
print(depth(deep, 4))
for k in range(100_000):
    deep = Recursive(deep)
try:
    depth(deep, 4)
except RecursionError as e:
    print(str(e)[:40])
while deep is not None:
    deep = deep.inner
gc.collect()
