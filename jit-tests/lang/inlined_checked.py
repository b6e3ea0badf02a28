"""Calls that become the callee's code by what was checked of their arguments: classes assigned between the check and the call, in the
arguments or by what the call's caller does, and methods that have met several classes or lost bets before."""
import sys


class Place:
    step = 1

    def __init__(self, a, b, forward):
        self.a = a
        self.b = b
        self.forward = forward

    def first(self):
        if self.forward:
            return self.a
        return self.b

    def tagged(self, other):
        return self.step, other.step, self.a, other.b

    def both(self):
        return self.first(), self.last()

    def last(self):
        if self.forward:
            return self.b
        return self.a

    def __add__(self, other):
        return self.a + other.a

    def __getitem__(self, k):
        return self.b if k else self.a


class Wide(Place):
    step = 2

    def __init__(self, a, b, forward):
        self.more = a
        super().__init__(a, b, forward)


class Odd(Place):
    step = 3

    def first(self):
        return "odd"

    def __add__(self, other):
        return "added"

    def __getitem__(self, k):
        return "item"


class Hidden:
    """It has the attributes, and none of the methods' classes."""

    step = 4
    a = "hidden a"
    b = "hidden b"
    forward = False


def turned(o, to):
    if to is not None:
        o.__class__ = to
    return o


def in_arguments(o, p, to):
    # The method is found first; then the argument's evaluation changes what both are.
    return o.tagged(turned(p, to)), p.tagged(o)


def on_the_way(o, p, to):
    x = o.a
    turned(o, to)
    return x, o.tagged(p), p.tagged(o)


def sums(o, p, to):
    first = o + p
    q = turned(p, to)
    return first, o + q, q + o, o[0], q[1]


def directions(o):
    return o.first(), o.both(), o.last()


def run(f, *sets, times=300):
    for make in sets:
        out = None
        for _ in range(times):
            try:
                out = f(*make())
            except Exception as e:
                out = type(e).__name__, str(e)
        print(f.__name__, out)


def pair(one, other, to=None):
    return lambda: (one(1, 2, True), other(3, 4, False), to)


for _ in range(3):
    for f in (in_arguments, on_the_way, sums):
        run(f, pair(Place, Place), pair(Place, Place, Odd), pair(Wide, Place), pair(Wide, Wide, Odd), pair(Odd, Place, Wide),
            pair(Place, lambda *_: Hidden()), pair(Place, Place, Place))
    run(directions, lambda: (Place(1, 2, True),), lambda: (Place(1, 2, False),), lambda: (Wide(1, 2, False),),
        lambda: (Wide(1, 2.5, True),), lambda: (Odd(1, 2, []),), lambda: (Place(1, 2, None),))

o, p = Place(object(), object(), True), Wide(object(), object(), False)
held = [o, p, o.a, o.b, p.a, p.b]
before = [sys.getrefcount(x) for x in held]
for n in range(400):
    directions(o)
    directions(p)
    in_arguments(o, p, None)
    in_arguments(p, o, Place if n % 3 else Odd)
    p.__class__ = Wide
    o.__class__ = Place
print(before == [sys.getrefcount(x) for x in held])
