"""Attributes asked of classes: class methods, static methods and constants, of classes with metaclasses too; and what changes them."""

import abc
import enum
import functools
import traceback


class Base:
    made = 0
    names = ("a", "b")

    def __init__(self, value=0):
        self.value = value

    @classmethod
    def make(cls, value, *, extra=0):
        cls.made += 1
        return cls(value + extra)

    @classmethod
    def named(cls, first="x", *rest):
        return cls.__name__, first, rest

    @staticmethod
    def double(x):
        return 2 * x

    @classmethod
    def fail(cls, x):
        return cls.names[x]

    length = classmethod(len)
    part = classmethod(functools.partial(max, key=str))


class Derived(Base):
    names = ("c",)

    @classmethod
    def named(cls, first="y", *rest):
        return "derived", *super().named(first, *rest)


class Shape(abc.ABC):
    sides = 0

    @classmethod
    def unit(cls):
        return cls(1)

    def __init__(self, size):
        self.size = size

    @abc.abstractmethod
    def area(self): ...

    @staticmethod
    def origin():
        return 0, 0


class Square(Shape):
    sides = 4

    def area(self):
        return self.size ** 2


class Colour(enum.Enum):
    RED = 1
    GREEN = 2

    @classmethod
    def first(cls):
        return cls.RED


def calls(n):
    total = 0
    for i in range(n):
        total += Base.make(i).value + Derived.make(i, extra=1).value + Base.double(i)
        total += len(Base.named()[2]) + len(Derived.named(1, 2, 3)[3])
    return total


def shapes(n):
    total = 0
    for i in range(n):
        total += Square.unit().area() + Square.sides + Shape.sides + Square.origin()[0]
    return total


def colours(n):
    found = []
    for i in range(n):
        if Colour.first() is Colour.RED:
            found.append(Colour.GREEN.value)
    return sum(found)


def failing(i):
    return Base.fail(i)


def odd():
    return Base.part([3, 10, 2]) if False else Base.named("z")


print(calls(200), calls(200), Base.made, Derived.made)
print(shapes(200), shapes(200))
print(colours(200), colours(200))
for _ in range(100):
    failing(1), odd()
try:
    failing(7)
except IndexError as error:
    print([(frame.name, frame.line) for frame in traceback.extract_tb(error.__traceback__)])
try:
    Base.length()
except TypeError as error:
    print(error)
try:
    Base.make()
except TypeError as error:
    print(error)
try:
    Base.part("x")
except TypeError as error:
    print(type(error).__name__)


# What changes them.

def asked():
    return Base.named("q"), Base.names


def asked_of_shape():
    return Shape.sides, Square.unit().size


def settled(f):
    for _ in range(100):
        f()
    return f()


print(settled(asked))
Base.named = classmethod(lambda cls, first: ("lambda", cls, first))
print(settled(asked))
Base.named = staticmethod(lambda first: ("static", first))
print(settled(asked))
Base.named = lambda first: ("function", first)
print(settled(asked))
Base.names = property(lambda self: 1)
print(type(settled(asked)[1]))
del Base.named
try:
    asked()
except AttributeError as error:
    print(error)


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)

    def described(cls):
        return "by " + type(cls).__name__


class Other(Meta):
    @property
    def sides(cls):
        return "from the metaclass"


class Thing(metaclass=Meta):
    sides = 3

    @classmethod
    def of(cls):
        return cls, cls.sides


def asked_of_thing():
    return Thing.sides, Thing.of(), Thing.described()


print(settled(asked_of_thing))
Thing.__class__ = Other
print(settled(asked_of_thing))
Thing.__class__ = Meta
print(settled(asked_of_thing))
Meta.sides = 5
print(settled(asked_of_thing))
Meta.sides = property(lambda cls: "property")
print(settled(asked_of_thing))
del Meta.sides
print(settled(asked_of_thing))
Meta.__getattribute__ = lambda cls, name: "any" if name == "sides" else type.__getattribute__(cls, name)
print(settled(asked_of_thing))
del Meta.__getattribute__
print(settled(asked_of_thing))
Meta.__getattr__ = lambda cls, name: "missing " + name
del Thing.sides
print(settled(asked_of_thing))

print(settled(asked_of_shape))
Shape.sides = 9
Square.unit = classmethod(lambda cls: cls(7))
print(settled(asked_of_shape))


# Asked of instances.

class Kinds:
    count = 2

    def __init__(self):
        self.x = 1

    @classmethod
    def kind(cls, *args):
        return cls, cls.count, args

    @functools.cached_property
    def cached(self):
        return ["cached", self.x]

    def mine(self):
        return self.__class__, self.kind(1)


class Below(Kinds):
    count = 3

    def mine(self):
        return super().mine(), super().kind(2), self.__class__.__name__


class Slotted(Kinds):
    __slots__ = ()


def of_instances(objects):
    found = []
    for o in objects:
        found.append((o.kind(), o.cached, o.__class__, o.mine()))
    return found


def settled_on(*objects):
    for _ in range(100):
        of_instances(objects)
    for row in of_instances(objects):
        print(row)


one, two = Kinds(), Below()
settled_on(one)
settled_on(one, two)
settled_on(two, Slotted(), one)
one.kind = lambda *args: ("own", args)
settled_on(one)
settled_on(one, two)
del one.kind, one.cached
one.x = 5
settled_on(one)
one.cached = "given"
settled_on(one)
one.__class__ = Below
settled_on(one)
Below.__class__ = type("Meta", (type,), {"count": property(lambda cls: "meta")})
settled_on(one)
Below.count = property(lambda self: "property")
settled_on(two, one)
Kinds.kind = lambda *args: ("function", len(args))
settled_on(two, one, Kinds())
Kinds.kind = property(lambda self: lambda *args: ("property", args))
settled_on(two)
Kinds.cached = property(lambda self: "data")
settled_on(two)
Kinds.__class__ = type("Meta2", (type,), {})
settled_on(Kinds())


class Liar(Kinds):
    @property
    def __class__(self):
        return int


settled_on(Liar())
del Liar.__class__
settled_on(Liar())
