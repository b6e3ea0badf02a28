"""Unpacking of namedtuples and of other classes derived from `tuple`."""

import collections
import typing

Pair = collections.namedtuple("Pair", "left right")


class Point(typing.NamedTuple):
    x: int
    y: int = 5


class Backwards(Pair):
    __slots__ = ()

    def __iter__(self):
        return iter((self.right, self.left))


class WithDict(Pair):
    """Its instances have a dict."""


class Own(tuple):
    pass


def spread(items, n):
    total = 0
    for _ in range(n):
        for item in items:
            a, b = item
            total += a * 10 + b
    return total


def made(n):
    total = 0
    for i in range(n):
        pair = Pair(i, 2)
        left, right = pair
        x, y = Point(left)
        total += left - right + x * y + pair.left
    return total


def swapped(pair, n):
    for _ in range(n):
        left, right = pair
        pair = pair._replace(left=right, right=left)
    return pair


for n in (2, 100, 1500):
    print(spread([Pair(1, 2)], n), spread([Pair(1, 2), Point(3), Own((4, 5))], n), made(n))
    print(spread([Backwards(1, 2), WithDict(3, 4), (5, 6), [7, 8]], n), swapped(Pair(1, n), n))


def unpack(pair):
    try:
        a, b = pair
    except (TypeError, ValueError) as e:
        return type(e).__name__, str(e)
    return a, b


for _ in range(500):
    unpack(Pair(1, 2))
for other in (
    tuple.__new__(Pair, (1, 2, 3)),
    tuple.__new__(Pair, (1,)),
    Pair(3, 4),
    Own(),
    Backwards(1, 2),
    "ab",
    "abc",
    {1: 2, 3: 4},
    5,
):
    print(unpack(other))


class Changing(Pair):
    pass


for _ in range(500):
    unpack(Changing(1, 2))
Changing.__iter__ = lambda self: iter(("changed", len(self)))
print(unpack(Changing(1, 2)))
del Changing.__iter__
print(unpack(Changing(1, 2)))


# The items outlive the tuple.
class Item:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("end of", self.name)


def first_of(n):
    for i in range(n):
        a, b = Pair(Item(f"a{i}"), Item(f"b{i}"))
        del a
    return b.name


print(first_of(3))
