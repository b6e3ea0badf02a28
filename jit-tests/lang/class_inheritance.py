"""Method resolution with several bases: diamonds, mixins, abstract classes, registered ones, isinstance and issubclass with hooks and unions."""

from abc import ABC, abstractmethod

from support import each, hot


class Root:
    def f(self):
        return ["Root"]


class L(Root):
    def f(self):
        return ["L"] + super().f()


class R(Root):
    def f(self):
        return ["R"] + super().f()


class D(L, R):
    def f(self):
        return ["D"] + super().f()


class E(R, L):
    pass


class Shape(ABC):
    @abstractmethod
    def area(self):
        return 1

    @property
    @abstractmethod
    def name(self): ...


class Square(Shape):
    name = "square"

    def area(self):
        return super().area() * 4


class Half(Shape):
    name = "half"


Shape.register(Root)


class HookMeta(type):
    def __instancecheck__(cls, o):
        if o == "raise":
            raise LookupError("check")
        return [] if o == "falsy" else o

    def __subclasscheck__(cls, c):
        return c is int


class Hook(metaclass=HookMeta):
    pass


class FakeClass:
    __class__ = int


class BadClass:
    @property
    def __class__(self):
        raise OSError("class")


def orders():
    return D().f(), E().f(), [c.__name__ for c in D.__mro__], [c.__name__ for c in E.mro()]


def conflict():
    class X(D, E):
        pass


def areas(make):
    return [s.area() for s in (make(), make())], make().name


def checks(o, kind):
    return isinstance(o, kind)


def subclass(a, b):
    return issubclass(a, b)


def branch(o):
    if isinstance(o, (int, float)):
        return o + 1
    if isinstance(o, str | bytes):
        return o * 2
    if isinstance(o, Root):
        return o.f()
    return type(o).__name__


hot(orders)
hot(conflict)
each(areas, (Square,), (Half,), (Shape,))
each(checks, *[(o, k) for o, k in ((D(), Root), (D(), Shape), (Square(), Shape), (1, Shape), (True, int), (1, (str, (float, int))), (1, int | str), ("x", Hook), ("raise", Hook), ("falsy", Hook), (0, Hook),
                                   (FakeClass(), int), (FakeClass(), FakeClass), (BadClass(), int), (BadClass(), BadClass), (1, 5), (1, (str, 5)), (1, (int, 5)), (None, type(None)), (None, None | int), (int, type), (1, list[int]), (1, ()))], times=35)
each(subclass, (D, Root), (Root, D), (int, Hook), (str, Hook), (Root, Shape), (1, int), (int, 1), (bool, (str, int)), (int, int | str), (list[int], list), times=35)
each(branch, (1,), (2.5,), ("a",), (b"b",), (D(),), (None,), (True,))
