"""Properties: getters, setters, deleters, missing ones, inherited and overridden, raising AttributeError, cached, on classes, renamed."""

import functools

from support import each, hot


class P:
    def __init__(self, x):
        self._x = x

    @property
    def x(self):
        """The doc."""
        return self._x

    @x.setter
    def x(self, value):
        if value is None:
            raise ValueError("none")
        self._x = value

    @x.deleter
    def x(self):
        self._x = "deleted"

    @property
    def readonly(self):
        return self._x * 2

    @property
    def inner_error(self):
        return self.no_such

    writeonly = property(None, lambda self, value: setattr(self, "_x", value))
    nothing = property()

    @functools.cached_property
    def cached(self):
        self._x += 1
        return self._x


class Q(P):
    @P.x.getter
    def x(self):
        return "Q", self._x

    @property
    def readonly(self):
        return super().readonly, "Q"


class Fallback(P):
    def __getattr__(self, name):
        return f"fallback {name}"


def use(o, value):
    o.x = value
    a = o.x
    o.x += o._x
    b = o.x
    del o.x
    return a, b, o.x, o.readonly


def wrong(o, how):
    if how == 0:
        o.readonly = 1
    elif how == 1:
        del o.readonly
    elif how == 2:
        return o.writeonly
    elif how == 3:
        return o.nothing
    elif how == 4:
        o.nothing = 1
    elif how == 5:
        return o.inner_error
    elif how == 6:
        o.x = None
    elif how == 7:
        o.writeonly += 1
    return o.x


def cached(n):
    o = P(n)
    a = o.cached, o.cached
    del o.cached
    return a, o.cached, o.__dict__


def on_class():
    return type(P.x).__name__, P.x.__doc__, P.x.fget(P(5)), P.x.__name__, P.readonly.fset


def swapped(n):
    class S:
        v = property(lambda self: "first")
    o = S()
    out = []
    for i in range(n):
        if i == n - 3:
            S.v = property(lambda self: "second")
        if i == n - 2:
            S.v = "plain"
        if i == n - 1:
            o.v = "instance"
        out.append(o.v)
    return out[-5:]


def summed(items):
    s = 0
    for p in items:
        p.x = p.x + 1
        s += p.readonly
    return s


each(use, (P(1), 5), (P("a"), "b"), (Fallback(1.5), 2.5), (Q(1), 3), (P(0), None))
each(wrong, *[(kind(1), how) for kind in (P, Fallback) for how in range(8)])
hot(cached, 1)
hot(on_class)
hot(swapped, 60, times=3)
each(lambda make: summed(make()), (lambda: [P(i) for i in range(20)],), (lambda: [P(0.5), P(1)],), (lambda: [P("x")],))
