"""Operators whose operands the interpreter notes nothing of: numbers mixed, items by negative indexes, attributes of several
classes. What they meet changes while they run."""
import sys


def mixed(a, b):
    return (a - b) / (a + 1) * b


def divided(a, b):
    return a / b, a // b, a % b, a ** 2


def ordered(a, b):
    return a < b, a == b, a >= b, a != b


def last(items):
    return items[-1]


def negated(a):
    return -a


def flag(a):
    if a:
        return 1
    return 0


class A:
    def __init__(self, x):
        self.x = x

    def get(self):
        return self.x


class B(A):
    def __init__(self, x):
        self.y = 1
        self.x = x

    def get(self):
        return -self.x


class C(A):
    __slots__ = ("z",)

    @property
    def w(self):
        return self.x


class D:
    x = 5

    def get(self):
        return "D"


def ask(o):
    return o.x, o.get()


def put(o, v):
    o.x = v
    return o.x


def run(f, *sets, times=400):
    out = []
    for args in sets:
        for _ in range(times):
            try:
                r = f(*args)
            except Exception as e:
                r = type(e).__name__, str(e), e.__traceback__.tb_next.tb_lineno
        out.append(r)
    print(f.__name__, *map(repr, out))


class Num(float):
    def __sub__(self, other):
        return "sub"

    def __rsub__(self, other):
        return "rsub"


big = 1 << 80
for _ in range(3):
    run(mixed, (3, 1.5), (2.5, 4), (3.0, 2.0), (3, 2), (True, 2.5), (1.5, False), (3, "x"), (Num(2.0), 1), (1, Num(2.0)), (big, 1.5),
        (1.5, big), (-1, 1.5))
    run(divided, (7.5, 2.0), (7, 2.0), (7.5, 2), (7, 2), (7.5, 0), (7, 0.0), (0.0, -2.5), (-7.5, 2.0), (big, 3.0), (2.0, big))
    run(ordered, (1, 1.0), (1.5, 1), (float("nan"), 1), (1, float("nan")), (2.0, 3.0), (2, 3), (big, 1e30), ((1 << 53) + 1, float(1 << 53)),
        ("a", "b"), ("a", 1))
    run(last, ([1, 2],), ((3, 4),), ([],), ((),), ("xy",), ({-1: 5},), ({},))
    run(negated, (1,), (1.5,), (True,), (big,), ("x",), (0.0,))
    run(flag, (1,), (0,), (True,), (False,), (0.0,), (1.5,), ([],), ([1],), (None,), ("",), ((),), (A(1),))


def loop(values):
    """One running frame that meets other operands."""
    total = 0
    for v in values:
        total = total + v / 2 if v != 3 else total - v
    return total


print(loop([1.5] * 3000 + [2] * 3000 + [3, 3.0] * 1000 + [big, True]))

objects = [A(1), B(2), C(3), D(), A(4)]
for n in range(3000):
    got = [ask(o) for o in objects[: 1 + n // 500]]
print(got)
for n in range(3000):
    got = [put(o, n) for o in objects[: 1 + n // 500]]
print(got)
del A.get
A.get = lambda self: "new"
for n in range(300):
    got = [ask(o) for o in objects]
print(got)
objects[0].get = lambda: "own"
objects[1].__class__ = C
for n in range(300):
    got = [ask(o) for o in objects]
print(got)


def counts(a, b):
    return a / b, a - b


a, b = 1000.5, 123456789
before = sys.getrefcount(a), sys.getrefcount(b)
for n in range(2000):
    counts(a, b)
    counts(b, a)
print(before == (sys.getrefcount(a), sys.getrefcount(b)))


class Money:
    """Its operators stand beside arithmetic on numbers of both kinds."""

    def __init__(self, n):
        self.n = n

    def __sub__(self, other):
        if isinstance(other, Money):
            return Money(self.n - other.n)
        return NotImplemented

    def __rmul__(self, other):
        return Money(other * self.n)


def balance(a, b, rate):
    rest = a - b
    return (rest.n * rate - rate) + (rest.n + rate * 2), (rate * rest).n


for _ in range(3):
    run(balance, (Money(3), Money(2), 1.5), (Money(2.5), Money(4), 2), (Money(3.0), Money(1.5), 0.5), (Money(3), Money(1), 2),
        (Money(3), 2, 1.5), (Money(big), Money(1), 2.5))


class Holder:
    def __init__(self, items):
        self.items = items

    def count(self):
        return len(self.items)


class Sized:
    def __len__(self):
        return 7


class Negative:
    def __len__(self):
        return -1


class Listed(list):
    def __len__(self):
        return 99


def counted(holder, at):
    """`len` of what nothing is known of, called from elsewhere too."""
    return len(holder.items) + 1, holder.count(), len(holder.items[at]) == 1


def holder(items):
    return Holder(items), 0


for _ in range(3):
    run(counted, holder([[1], 2]), holder([(1, 2)]), holder(((1,), [])), holder({0: "x"}), holder(["text"]), holder([Listed()]),
        holder(Listed([[1]])), holder([Sized()]), holder([Negative()]), holder([3]), holder(None), holder([[1]]))
