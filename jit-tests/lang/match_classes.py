"""match against classes: positional and keyword patterns, __match_args__ of each kind, builtins that match themselves, every error."""

from dataclasses import dataclass

from support import each


@dataclass
class Point:
    x: int
    y: int = 0


class Three(Point):
    __match_args__ = ("y", "x", "z")
    z = "class"


class ListArgs:
    __match_args__ = ["a"]


class NumberArgs:
    __match_args__ = (1,)


class Twice:
    __match_args__ = ("a", "a")
    a = 1


class Raises:
    __match_args__ = ("value",)

    @property
    def value(self):
        raise LookupError("property")

    @property
    def absent(self):
        raise AttributeError("absent")


class Meta(type):
    def __instancecheck__(cls, other):
        if other == "raise":
            raise ValueError("instance check")
        return other == "claimed"


class Claimed(metaclass=Meta):
    length = 3


def shape(x):
    match x:
        case Point(0, 0):
            return "origin"
        case Three(y, x=1):
            return "three", y
        case Point(x=x, y=y) if x == y:
            return "diagonal", x
        case Point(x, int() | float() as y):
            return "point", x, y
        case bool(b):
            return "bool", b
        case int(n) | float(n):
            return "number", n
        case str(s, ) | bytes(s):
            return "text", s
        case dict(d) if d:
            return "dict", d
        case list([Point(a), *_]) | tuple([a, _]):
            return "first", a
        case Raises(absent=_):
            return "never"
        case type(__name__=n):
            return "type", n
    return "other"


def error(x, how):
    match x:
        case ListArgs(a) if how == 0:
            return a
        case NumberArgs(a) if how == 1:
            return a
        case Twice(a, b):
            return a, b
        case Raises(v):
            return v
        case Point(a, b, c):
            return "too many"
        case int(a, b):
            return "too many"
        case Twice(a, a=b):
            return a, b
        case how():
            return "no class"


def claimed(x):
    match x:
        case Claimed(upper=f):
            return "claimed", f()
    return "not"


each(shape, *[(x,) for x in (Point(0), Point(2, 2), Point(1, 2.5), Point(1, "t"), Three(1, 5), Three(2, 3), True, 7, 2.5, "s", b"b", {}, {1: 2}, [Point(4)], [5], (8, 9),
                             Raises(), Point, None)])
each(error, (ListArgs(), 0), (NumberArgs(), 1), (Twice(), 2), (Raises(), 2), (Point(1), 2), (3, 2), ("x", 2), ("x", str))
each(claimed, ("claimed",), ("x",), ("raise",))
