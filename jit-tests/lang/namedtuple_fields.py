"""Fields of named tuples: read hot, of too short ones, of classes below, replaced in the class, and the descriptors in other places."""

from collections import namedtuple
from typing import NamedTuple

Point = namedtuple("Point", "x y z", defaults=(0,))


class Named(NamedTuple):
    x: float
    y: float = 2.5

    def total(self):
        return self.x + self.y


class Below(Point):
    @property
    def y(self):
        return "own", self[1]

    extra = 7


class Slotted(Point):
    __slots__ = ()


class Plain:
    x = Point.x


class Pair(tuple):
    second = Point.y


def fields(p):
    return p.x, p.y


def sums(points):
    total = 0
    for p in points:
        total += p.x * p.x + p.y
    return total


def total(n):
    return n.total()


def show(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e).__name__, str(e)


def second(p):
    return p.second


def sets(p):
    p.x = 5


objects = [
    Point(1, 2),
    Point(1.5, "b", None),
    Named(4),
    Named(4.5, 1),
    Slotted(3, 4),
    Below(5, 6),
    Plain(),
    tuple.__new__(Point, (1,)),
    tuple.__new__(Point, ()),
    tuple.__new__(Named, (1, 2, 3, 4)),
    (1, 2),
]
for turn in range(150):
    points = [Point(k, turn) for k in range(4)]
    found = [sums(points), fields(points[1]), fields(Slotted(turn, 2)), total(Named(turn)), fields(points[2]._replace(y=9))]
    found += [show(second, Pair((turn, 2))), fields(Below(turn, 1))]
    if turn > 60:
        found += [show(fields, o) for o in objects]
        found += [show(second, Pair((turn,))), show(second, Pair()), show(sets, points[0]), show(sums, objects[:2])]
    if turn == 90:
        Point.y = property(lambda self: self[0] * 1000)
    if turn == 110:
        Point.x = Point.z
    if turn == 120:
        del Point.y
        objects.append(points[3])
        found += [show(fields, points[3])]
        break
    if turn % 15 == 0 or turn > 85:
        print(turn, found)
for turn in range(40):
    found = [show(fields, o) for o in objects] + [show(sums, [Named(turn), Named(1, turn)])]
print(found)
