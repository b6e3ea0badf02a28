# A method of one of several classes, loaded and called at once: each class has its own way through both, with the arguments between.
import sys
import traceback


class Shape:
    def __init__(self, size):
        self.size = size
        self.calls = 0


class Square(Shape):
    def area(self):
        return self.size * self.size

    def scaled(self, factor, more=1):
        self.calls += 1
        return self.size * factor + more

    def fail(self, with_what):
        raise ValueError(with_what)


class Circle(Shape):
    def area(self):
        return self.size * 3

    def scaled(self, factor, more=2):
        self.calls += 1
        return self.size + factor * more

    def fail(self, with_what):
        return with_what


class Plane(Shape):
    def area(self):
        return sum([self.size, self.calls])

    @staticmethod
    def scaled(factor, more=3):
        return factor, more

    def fail(self, with_what):
        return [with_what].pop(1)


class Late(Shape):
    def area(self):
        return "late"

    def scaled(self, factor):
        return factor

    fail = None


def areas(shapes):
    return [shape.area() for shape in shapes]


def total(shapes):
    sum = 0
    for shape in shapes:
        sum += shape.area()
    return sum


def scaled(shapes, by):
    out = []
    for shape in shapes:
        out.append(shape.scaled(by))
        out.append(shape.scaled(by, shape.size))
    return out


def failing(shapes, text):
    seen = []
    for shape in shapes:
        try:
            seen.append(shape.fail(text))
        except ValueError as error:
            seen.append(("value", str(error), sys.exc_info()[2].tb_lineno - failing.__code__.co_firstlineno))
        except IndexError as error:
            seen.append(("index", str(error), len(traceback.extract_tb(error.__traceback__))))
    return seen


def spread(shape, by):
    return (
        shape
        .scaled(
            by.unbound,
        )
    )


class By:
    def __init__(self, unbound):
        self.unbound = unbound


def one(shape):
    x = shape.area()
    return x


shapes = [Square(2), Circle(3), Plane(4), Square(5)]
for _ in range(1500):
    a = areas(shapes)
    t = total(shapes)
    s = scaled(shapes, 3)
    f = failing(shapes, "text")
    for shape in shapes:
        p = spread(shape, By(2))
        o = one(shape)
print(a, t, s, f, p, o)
print([shape.calls for shape in shapes])

# A class that was not there, one without the method, one that shadows it, and what is no instance of theirs.
print(areas(shapes + [Late(1)]), scaled([Square(1)], 1))
for shape in (Late(1), 1, None, Plane):
    for call in (lambda: scaled([shape], 1), lambda: spread(shape, By(1)), lambda: failing([shape], "x"), lambda: one(shape)):
        try:
            print(call())
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            print(type(error).__name__, error, last.name, last.lineno - spread.__code__.co_firstlineno if last.name == "spread" else "")
square = Square(7)
square.area = lambda: "its own"
print(areas([square, Circle(1)]))

# Arguments that fail, or are looked at, between the method and its call.
try:
    spread(Circle(1), object())
except AttributeError as error:
    last = traceback.extract_tb(error.__traceback__)[-1]
    print(error, last.lineno - spread.__code__.co_firstlineno)


class Lazy:
    @property
    def unbound(self):
        Circle.scaled = lambda self, factor: ("patched", factor)
        shapes[1].__class__ = Square
        return 10


original = Circle.scaled
print(spread(shapes[1], Lazy()), shapes[1].area())
print(spread(Circle(1), By(1)))
Circle.scaled = original
shapes[1].__class__ = Circle
print(areas(shapes), scaled(shapes, 2))

# Methods that are changed while one of them runs.


class Changing(Shape):
    def area(self):
        if self.size == 0:
            Square.area = lambda self: "new"
        return self.size


def both(a, b):
    return a.area(), b.area()


for n in range(3000):
    both(Changing(1), Square(2))
    both(Square(2), Changing(1))
print(both(Changing(0), Square(3)), both(Square(3), Changing(0)))
