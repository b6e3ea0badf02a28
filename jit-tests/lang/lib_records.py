"""Dataclasses, named tuples, enums and simple namespaces in hot loops: made, compared, ordered, frozen, matched, replaced, wrong fields."""

import enum
from collections import namedtuple
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from support import each, hot


@dataclass(order=True)
class Point:
    x: int
    y: int = 0
    tags: list = field(default_factory=list, compare=False)

    def __post_init__(self):
        if self.x == "bad":
            raise ValueError("bad x")


@dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    b: str = "b"


@dataclass(kw_only=True)
class Keyword(Point):
    z: float


Pair = namedtuple("Pair", "left right", defaults=[0])


class Sub(Pair):
    __slots__ = ()

    @property
    def total(self):
        return self.left + self.right


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1

    def next(self):
        return Color(self.value % 2 + 1)


class Flag(enum.Flag):
    A = 1
    B = 2
    AB = 3


class Code(enum.IntEnum):
    OK = 200
    GONE = 410


def points(n):
    ps = [Point(i % 3, -i) for i in range(n)]
    total = 0
    for p in ps:
        p.x += 1
        total += p.x * p.y
    return total, sorted(ps)[0], max(ps), Point(1) == Point(1, 0, ["x"]), len({id(p.tags) for p in ps})


def make(kind, *args, **kw):
    return kind(*args, **kw)


def frozen(f):
    out = [f, replace(f, a=f.a + 1), hash(f) == hash(Frozen(f.a, f.b)), {f: 1}[Frozen(f.a, f.b)]]
    try:
        f.a = 5
    except AttributeError as error:
        out.append((type(error).__name__, str(error)))
    return out


def tuples(n):
    p = Pair(n)
    s = Sub(1, 2)
    a, b = p
    return p, p.left + p.right, p == (n, 0), a, p._replace(right=9), s.total, p._asdict(), s[0], Pair._fields, p < Pair(n, 1)


def colors(n):
    c, seen = Color.RED, []
    for _ in range(n):
        seen.append(c.name)
        c = c.next()
    return seen, Color["GREEN"], Color.CRIMSON is Color.RED, list(Color), c in (Color.RED,), Color.RED == 1, {Color.RED: "r"}[Color(1)]


def flags(a, b):
    return a | b, a & b, ~a, bool(a & b), a in a | b, list(a | b), (a ^ b).value


def codes(x):
    return Code.OK < x, Code.OK + x, Code(x), f"{Code.OK:d}", Code.OK == 200, [10] * 3


def spaces(n):
    s = SimpleNamespace(a=n)
    s.b = s.a + 1
    del s.a
    return s, s == SimpleNamespace(b=n + 1), vars(s)


hot(points, 7)
each(make, (Point, 1), (Point,), (Point, 1, 2, [], 4), (Point, "bad"), (Frozen, 1), (Frozen,), (Pair, 1), (Pair,), (Pair, 1, 2, 3), (Color, 1), (Color, 9), (Code, 410), (Flag, 3), (Flag, 8))
hot(lambda: (make(Keyword, 1, z=2.5), make(Point, y=2, x=1)))
hot(lambda: make(Keyword, 1))
hot(frozen, Frozen(1))
each(lambda a, b: a < b, (Point(1), Point(2)), (Point(1), Frozen(1)), (Frozen(1), Frozen(2)))
hot(tuples, 3)
hot(colors, 3)
each(flags, (Flag.A, Flag.B), (Flag.AB, Flag.A), (Flag(0), Flag.A))
each(codes, (410,), (200,), (5,))
hot(spaces, 1)
