"""isinstance with known classes and tuples of them: abstract classes, metaclasses, properties named __class__, classes assigned later, nested tuples, replaced names."""

from abc import ABC, ABCMeta
from collections.abc import Sized

from support import each, hot


class A:
    pass


class B(A):
    pass


class Slots:
    __slots__ = ("x",)


class Meta(type):
    def __instancecheck__(cls, x):
        return x == 5 if isinstance(x, int) else "meta" in repr(x)


class Strange(metaclass=Meta):
    pass


class Pretends:
    @property
    def __class__(self):
        return A


class Raises:
    @property
    def __class__(self):
        raise KeyError("class")


class Lies:
    __class__ = int


class Asks:
    def __getattribute__(self, name):
        if name == "__class__":
            return str
        return object.__getattribute__(self, name)


class Abstract(ABC):
    pass


Abstract.register(Slots)
BOTH = (str, A)
NUMBERS = (int, float, complex)
NESTED = (str, (A, (int,)))
EMPTY = ()
VALUES = (1, True, "a", 2.0, 1j, None, A(), B(), Slots(), [], (), A, int, Strange(), Pretends(), Raises(), Lies(), Asks(), b"x", {}, set(), 5)


def two(x):
    return isinstance(x, (str, A))


def one(x):
    return isinstance(x, A), isinstance(x, int), isinstance(x, object), isinstance(x, type)


def constants(x):
    return isinstance(x, BOTH), isinstance(x, NUMBERS), isinstance(x, EMPTY)


def nested(x):
    return isinstance(x, NESTED), isinstance(x, (bool, (list, tuple)))


def many(x):
    return isinstance(x, (str, bytes, A, list, dict, set))


def special(x):
    return isinstance(x, (A, Strange)), isinstance(x, (str, Sized)), isinstance(x, Abstract), isinstance(x, (Abstract, int))


def union(x):
    return isinstance(x, int | str)


def counts(xs, n):
    total = 0
    for i in range(n):
        for x in xs:
            if isinstance(x, (str, A)):
                total += 1
            elif isinstance(x, (int, float)):
                total += 10
    return total


def made(classes):
    return [isinstance(x, (classes[0], A)) for x in (1, "a", A())]


def wrong(x):
    return isinstance(x, (str, 1))


def wrong_late(x):
    return isinstance(x, (str, A, "A"))


def assigned(n):
    out = []
    xs = [A(), B(), Slots()]
    for i in range(n):
        if i == n - 3:
            class C:
                pass
            xs[0].__class__ = C
        out.append([isinstance(x, (str, A)) for x in xs])
    return out[-5:]


def overridden(n):
    class E:
        pass

    class Base:
        pass

    class Pretending:
        __class__ = property(lambda self: E)

    class D(Base):
        pass

    out, x = [], D()
    for i in range(n):
        if i == n - 3:
            D.__bases__ = (Pretending,)
        if i == n - 1:
            D.__bases__ = (Base,)
        out.append((isinstance(x, (E, str)), isinstance(x, E), isinstance(x, D)))
    return out[-5:]


def replaced(n):
    global isinstance
    out = []
    for i in range(n):
        if i == n - 2:
            isinstance = lambda x, c: ("own", c)
        out.append(isinstance("a", (str, A)))
    del isinstance
    return out[-4:]


def rebound(n):
    global BOTH
    kept, out = BOTH, []
    for i in range(n):
        if i == n - 2:
            BOTH = (int,)
        out.append(constants(1))
    BOTH = kept
    return out[-4:]


class Ended:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append(isinstance(self, (Ended, str)))


def ended(n):
    log = []
    for i in range(n):
        log.append(isinstance(Ended(log), (str, A)))
    return log[-4:], len(log)


for function in (two, one, constants, nested, many, special, union):
    each(function, *[(x,) for x in VALUES], times=41)
each(counts, ([1, "a", 2.0, A(), []], 30), ([], 3), ([B(), Pretends(), 1], 20), ([Raises()], 2))
each(made, ([int],), ([str],), ([Sized],), ([1],))
each(wrong, (1,), ("a",), (None,))
each(wrong_late, (1,), ("a",), (A(),))
print(assigned(60), overridden(60), replaced(60), rebound(60))
hot(ended, 40)
