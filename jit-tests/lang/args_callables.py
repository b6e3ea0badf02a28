"""What can be called: bound and unbound methods, static and class methods, partials, instances, classes, metaclass __call__, and not."""

import functools

from support import each


class Meta(type):
    def __call__(cls, *args, **kwargs):
        if args == ("special",):
            return "from the metaclass"
        return super().__call__(*args, **kwargs)


class Thing(metaclass=Meta):
    def __init__(self, a, b=2):
        self.value = a, b

    def method(self, x, *, y=1):
        return self.value, x, y

    @classmethod
    def made(cls, *args):
        return cls(*args).value

    @staticmethod
    def static(a, b="b"):
        return a, b

    def __call__(self, *args, **kwargs):
        return "instance", self.value, args, kwargs

    def __repr__(self):
        return f"Thing{self.value}"


class Wrong:
    __call__ = 5


class Delegated:
    __call__ = staticmethod(functools.partial(int, base=2))


thing = Thing(1)


def call1(f, x):
    return f(x)


def call2(f, x):
    return f(x, y=x)


def call0(f):
    return f()


part = functools.partial(thing.method, y=10)
each(call1, (thing.method, 3), (Thing.method, thing), (Thing.made, 4), (thing.made, 5), (Thing.static, 6), (thing.static, 7), (thing, 8),
     (Thing, 9), (Thing, "special"), (part, 11), (functools.partial(pow, 2), 5), (len, "abc"), (str.upper, "x"), (str.upper, 1),
     ("abc".startswith, "a"), ([].append, 1), (5, 1), (None, 1), (Wrong(), 1), (Delegated(), "101"), (int, "7"), (int, "x"), (type, 3))
each(call2, (thing.method, 3), (thing, 4), (part, 5), (Thing, 6), (Thing.static, 7), (len, "a"), (lambda x, y: x * y, 8))
each(call0, (dict,), (Thing,), (thing,), (thing.method,), (Thing.made,), (lambda: 3,), (bytes,), (functools.partial(Thing, 1, 2),), (int,))
