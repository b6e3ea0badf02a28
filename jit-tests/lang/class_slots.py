"""__slots__: unset, deleted and inherited slots, with and without __dict__, conflicts, weak references, assigned __class__, hot loops over them."""

import weakref

from support import each, hot


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def moved(self, d):
        p = Point(self.x + d, self.y)
        p.y += d
        return p


class Point3(Point):
    __slots__ = ("z", "__weakref__")


class Open(Point):
    """Has a __dict__ beside the slots."""


class Private:
    __slots__ = "__hidden", "shown"

    def __init__(self):
        self.__hidden = 1

    def look(self):
        return self.__hidden


class Same(Point):
    __slots__ = ("x",)


class Layout:
    __slots__ = ("x", "y")


def path(n):
    p = Point(0, 0.5)
    for i in range(n):
        p = p.moved(i)
    return p.x, p.y


def unset(kind):
    p = kind.__new__(kind)
    p.x = 1
    out = [p.x, hasattr(p, "y")]
    del p.x
    out.append(hasattr(p, "x"))
    try:
        del p.x
    except AttributeError as error:
        out.append(str(error))
    return out, p.y


def stores(p, how):
    if how == 0:
        p.other = 1
    elif how == 1:
        p.__dict__["d"] = 2
    elif how == 2:
        weakref.ref(p)
    elif how == 3:
        p.z = 3
        return p.z
    elif how == 4:
        p.__class__ = Layout
    elif how == 5:
        p.x, p.y = p.y, p.x
        return p.x, p.y
    return getattr(p, "__dict__", "none"), type(p).__name__


def hidden(n):
    p = Private()
    return p.look(), p._Private__hidden, hasattr(p, "shown"), Same(1, 2).x, Point.x.__get__(Point(n, 0)), Point.__slots__


def wrong(how):
    if how == 0:
        class A:
            __slots__ = ("a",)
            a = 1
    elif how == 1:
        class B(Point, Private):
            __slots__ = ()
    elif how == 2:
        class C:
            __slots__ = (1,)
    elif how == 3:
        class D(int):
            __slots__ = ("x",)
        class E(bytes):
            __slots__ = ("x",)
    elif how == 4:
        return Point.x.__get__(5)
    elif how == 5:
        Point.x.__set__(Layout(), 1)
    return "done"


each(path, (10,), (100,), (0,))
each(unset, (Point,), (Point3,), (Open,), (Layout,))
each(lambda kind, how: stores(kind(1, 2), how), *[(kind, how) for kind in (Point, Point3, Open, Same) for how in range(6)], times=35)
hot(hidden, 4)
each(wrong, *[(how,) for how in range(6)])
