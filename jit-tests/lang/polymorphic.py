"""Sites that meet several classes, whose classes and instances change while the sites are compiled."""

# not in mode default: units that are made meanwhile hold what they bet on, and references are counted here.
# not in mode late: likewise.

import gc
import sys


class Shape:
    kind = "shape"

    def __init__(self, size):
        self.size = size
        self.count = 0

    def area(self):
        return self.size

    def grow(self, by=1):
        self.size += by
        self.count += 1
        return self


class Square(Shape):
    def area(self):
        return self.size * self.size


class Circle(Shape):
    def __init__(self, size):
        self.first = "other order"
        Shape.__init__(self, size)

    def area(self):
        return self.size * 3


class Line(Shape):
    kind = "line"


class Slotted:
    __slots__ = ("size", "count", "kind")

    def __init__(self, size):
        self.size = size
        self.count = 0
        self.kind = "slotted"

    def area(self):
        return -self.size

    def grow(self, by=1):
        self.size += by
        return self


class Both(Slotted):
    """Slots of the base and a dictionary."""

    def __init__(self, size):
        Slotted.__init__(self, size)
        self.extra = size

    def area(self):
        return self.extra


class Proxy:
    """Decides itself."""

    def __init__(self, target):
        object.__setattr__(self, "target", target)

    def __getattr__(self, name):
        return getattr(self.target, name)

    def __setattr__(self, name, value):
        setattr(self.target, name, value)


class Computed:
    def __init__(self, size):
        self.log = size

    @property
    def size(self):
        return self.log * 10

    @size.setter
    def size(self, value):
        self.log = value // 10

    count = 7
    kind = staticmethod(lambda: "never called").__name__

    def area(self, scale=2):
        return self.size * scale

    @classmethod
    def grow(cls, by=1):
        return cls.__name__, by


def loads(things, turns):
    total = 0
    for _ in range(turns):
        for thing in things:
            total += thing.size + thing.count
    return total


def calls(things, turns):
    total = 0
    for _ in range(turns):
        for thing in things:
            total += thing.area()
            thing.grow(by=1) if total % 3 == 5 else thing.grow(2)
    return total


def stores(things, turns):
    for turn in range(turns):
        for thing in things:
            thing.count = turn
            thing.size = thing.size - 1
    return [thing.size for thing in things]


def kinds(things, turns):
    out = []
    for _ in range(turns):
        for thing in things:
            out.append(thing.kind)
    return out[-len(things):]


def bound(things, turns):
    out = 0
    for _ in range(turns):
        for thing in things:
            method = thing.area
            out += method()
    return out


def failing(things, turns):
    out = []
    for turn in range(turns):
        for thing in things:
            try:
                out.append(thing.area())
            except (AttributeError, TypeError, ZeroDivisionError) as error:
                out.append(f"{type(error).__name__}: {error}")
    return out[-2 * len(things):]


def everything():
    few = [Square(2), Circle(3), Line(4)]
    many = few + [Slotted(5), Both(6), Computed(7), Proxy(Square(8)), Shape(9)]
    for things in (few, many):
        print(loads(things, 60), calls(things, 60), stores(things, 60), kinds(things, 60), bound(things, 60))
    return few, many


few, many = everything()

# Instances change.
few[0].area = lambda: 1000
print(calls(few, 40), bound(few, 40), failing(few, 30))
del few[0].area
few[1].kind = "own"
many[3].kind = "slot"
print(kinds(few, 40), kinds(many, 40))
few[2].__dict__["area"] = lambda: 77
print(calls(few, 40), failing(many, 30))
few[2].__dict__ = {"size": 5, "count": 1}
print(loads(few, 40), stores(few, 40), calls(few, 40))
del few[1].size
try:
    loads(few, 40)
except AttributeError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
few[1].size = 6
print(loads(few, 40))

# Classes change.
Square.area = lambda self: self.size + 10000
print(calls(few, 40), bound(many, 40))
Shape.count = property(lambda self: 5, lambda self, value: None)
print(loads(few, 40), stores(few, 40))
del Shape.count
print(loads(few, 40), stores(few, 40))
Circle.kind = "circle"
print(kinds(few, 40))
Line.grow = lambda self, by=0: print("line grows by", by) if by == 3 else None
print(calls(few, 40))
Line.grow = 5
print(failing(few, 20))
try:
    calls(few, 40)
except TypeError as error:
    print(error)
del Line.grow
print(calls(few, 40))
Shape.area = classmethod(lambda cls: 3)
print(failing(many, 20), bound(few, 20))
Slotted.area = Shape.__init__
print(failing(many, 20))
Slotted.area = lambda self, *more: len(more)
print(failing(many, 20))

# Objects change their class.
few[0].__class__ = Line
few[1].__class__ = Square
print(calls(few, 40), loads(few, 40), kinds(few, 40), stores(few, 40))


class Late(Shape):
    def area(self):
        if self.size > 120:
            self.__class__ = Square
        elif self.size > 100:
            raise ZeroDivisionError(self.size)
        self.size += 1
        return 1


few.append(Late(1))
print(failing(few, 140))
print(failing(few, 140))


class Dying(Shape):
    def area(self):
        return 5

    def __del__(self):
        print("dies", self.size, sys.getrefcount(type(self)) > 0)


def temporary(turns):
    total = 0
    for turn in range(turns):
        for cls in (Square, Dying, Circle) if turn in (700, 701) else (Square, Line, Circle):
            total += cls(turn).grow().area()
            total += cls(turn).size
    return total


print(temporary(60), temporary(705))


def make(n):
    class Fresh(Shape):
        def area(self):
            return n

    return Fresh(n)


def fresh(turns):
    total = 0
    for n in range(turns):
        thing = make(n)
        total += thing.area() + thing.size
        thing.count = total
        total += thing.count % 3
    return total


print(fresh(300))
gc.collect()
del Late, Dying
few.pop()
gc.collect()
print(calls(few, 40), calls(many[:3], 30))
things = [Square(1), Circle(2)] + few
before = [sys.getrefcount(thing) for thing in things], sys.getrefcount(Shape.grow)
for _ in range(40):
    loads(things, 10), calls(things, 10), stores(things, 10), bound(things, 10)
print(before == ([sys.getrefcount(thing) for thing in things], sys.getrefcount(Shape.grow)))
