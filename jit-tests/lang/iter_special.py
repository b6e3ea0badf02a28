"""What a loop asks of a class: __iter__ and __next__ of every kind, found in the class alone, changed while they are in use."""

import sys

from support import each, hot


class Makes:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            yield i, sys._getframe(1).f_code.co_name


class Inherits(Makes):
    pass


class Plain(Makes):
    def __iter__(self):
        return iter([self.n, sys._getframe(1).f_code.co_name])


class Defaults(Makes):
    def __iter__(self, extra=("d",), *rest, key="k", **more):
        yield from (*extra, rest, key, more)


class TooFew(Makes):
    def __iter__():
        yield 1


class TooMany(Makes):
    def __iter__(self, other):
        yield 1


class NoIterator(Makes):
    def __iter__(self):
        return [1]


class NoneAtAll(Makes):
    __iter__ = None


class Static(Makes):
    @staticmethod
    def __iter__():
        yield "static"


class Class(Makes):
    @classmethod
    def __iter__(cls):
        yield cls.__name__


class Property(Makes):
    @property
    def __iter__(self):
        return lambda: iter(["property", self.n])


class Builtin(Makes):
    __iter__ = id


class Callable(Makes):
    class Call:
        def __call__(self):
            yield "called"

    __iter__ = Call()


class OfList(list):
    def __iter__(self):
        yield from ("own", len(self))


class Raises(Makes):
    def __iter__(self):
        raise KeyError(self.n)


class Strange(Makes):
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Slotted:
    __slots__ = ("n",)

    def __iter__(self):
        yield "slotted"


class Meta(type):
    def __iter__(cls):
        yield cls.__name__


class OfMeta(metaclass=Meta):
    pass


def loop(x):
    out = []
    for item in x:
        out.append(item)
    return out


def delegate(x):
    result = yield from x
    yield result


def delegates(x):
    return loop(delegate(x))


def shadowed():
    x = Makes(1)
    x.__iter__ = lambda: iter("wrong")
    return loop(x), delegates(x)


def changed(times):
    class Local:
        def __iter__(self):
            yield "first"

    out = []
    for i in range(times):
        if i == times // 2:
            Local.__iter__ = lambda self: iter(["second"])
        if i == times - 4:
            del Local.__iter__
        if i == times - 3:
            Local.__getitem__ = lambda self, i: ["third"][i]
        try:
            out += loop(Local()) + delegates(Local())
        except TypeError as e:
            out.append(str(e))
    return out[0], out[times:times + 4], out[-8:]


def recoded(times):
    def f(self):
        yield "first"

    def g(self):
        return iter(["second"])

    class Local:
        __iter__ = f

    out = []
    for i in range(times):
        if i == times - 3:
            f.__code__ = g.__code__
        out += loop(Local()) + delegates(Local())
    return out[:2], out[-8:]


class Next:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration(self.n)
        if self.n == 77:
            raise ZeroDivisionError(sys._getframe(1).f_code.co_name)
        return self.n


class NextGenerates(Next):
    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        yield self.n


class NextTooMany(Next):
    def __next__(self, other):
        return other


class Deep:
    def __iter__(self):
        return iter(loop(self))


def lists(x):
    return [list(i) for i in x]


kinds = (Makes, Inherits, Plain, Defaults, TooFew, TooMany, NoIterator, NoneAtAll, Static, Class, Property, Builtin, Callable, Raises, Strange)
each(loop, *((kind(3),) for kind in kinds))
each(delegates, *((kind(3),) for kind in kinds))
each(loop, (OfList("abc"),), (Slotted(),), (OfMeta,))
each(delegates, (OfList("abc"),), (Slotted(),), (OfMeta,))
each(lambda kind, n: loop(kind(n)), (Next, 5), (Next, 78), (NextTooMany, 2))
each(lambda kind, n: delegates(kind(n)), (Next, 5), (Next, 78), (NextTooMany, 2))
hot(lambda: lists(NextGenerates(3)))
hot(shadowed)
hot(changed, 60, times=3)
hot(recoded, 60, times=3)
try:
    loop(Deep())
except RecursionError as e:
    print(e)
