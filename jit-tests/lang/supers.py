"""super(): both forms, methods, values, properties, static and class methods; orders of classes, changes, and errors."""

import traceback


class Base:
    limit = 10

    def __init__(self, n=0):
        self.n = n

    def step(self, k):
        self.n += k
        return self.n

    @property
    def twice(self):
        return 2 * self.n

    @staticmethod
    def static(k):
        return k + 1

    @classmethod
    def made(cls, k):
        return cls.__name__, k


class Middle(Base):
    limit = 20

    def __init__(self, n):
        super().__init__(n)
        self.m = n

    def step(self, k):
        return super().step(k) + 1

    @property
    def twice(self):
        return super().twice + 1

    def values(self):
        return super().limit, super().static(3), super().made(4), super().twice

    def bound(self):
        method = super().step
        return method.__self__ is self, method(0)

    def two(self, k):
        return super(Middle, self).step(k)

    def inner(self, k):
        return [super(Middle, self).step(k) for _ in range(2)], (lambda: super(Middle, self).step(k))()

    @classmethod
    def made(cls, k):
        return super().made(k)

    def missing(self):
        return super().nothing

    def missing_call(self):
        return super().nothing()

    def own_class(self):
        return super().__class__.__name__


    def looped(self, n):
        total = 0
        for k in range(n):
            total += super().step(0) + super().limit + k
            if k == n - 100:
                Base.limit += 1
        return total


class Left(Middle):
    def step(self, k):
        return super().step(k) * 2


class Right(Middle):
    def step(self, k):
        return super().step(k) + 100


class Both(Left, Right):
    def step(self, k):
        return super().step(k) - 7


def run(objects, n):
    total = 0
    for i in range(n):
        for o in objects:
            total += o.step(i) + o.two(1) + o.twice
    return total


def catch(f, *args):
    try:
        return f(*args)
    except Exception as error:
        where = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        return type(error).__name__, str(error), where


print(run([Middle(1)], 300))
print(run([Middle(1), Left(2), Right(3), Both(4)], 100))
both = Both(1)
for _ in range(200):
    seen = both.values(), both.bound(), both.inner(1), both.made(2), Both.made(3), both.own_class()
print(seen)
print([catch(both.missing) for _ in range(100)][-1], [catch(both.missing_call) for _ in range(100)][-1])

# An instance's own attribute is not asked.
both.step = lambda k: "own"
print(both.two(1), both.step(1))
del both.step

# Changes behind a compiled call.
middle = Middle(5)
run([middle], 50)
old = Base.step
Base.step = lambda self, k: 1000 + k
print(middle.step(1), middle.two(2))
Base.step = old
print(middle.step(1))
Base.limit = "changed"
print(middle.values()[0])


class Other:
    limit = 30

    def step(self, k):
        return -k

    def __init__(self, n):
        self.n = n

    twice = 8
    static = made = print


Middle.__bases__ = (Other,)
print(middle.step(9), middle.twice, Middle(3).n)
Middle.__bases__ = (Base,)
print(middle.step(9), middle.twice)
Left.__bases__ = (Base,)
print(catch(both.step, 1), Both.__mro__[1:3])


class Late(Middle):
    pass


print(run([Late(1), middle], 60))


class Deleted(Base):
    def step(self, k):
        if k > 100:
            del self
        return super().step(k)

    def replaced(self, other):
        self = other
        return super().step(1)


deleted = Deleted(0)
print([deleted.step(1) for _ in range(150)][-1], catch(deleted.step, 101))
print([deleted.replaced(Deleted(i)) for i in range(150)][-1], catch(deleted.replaced, 5), catch(deleted.replaced, Base()))


def outside(self, k):
    return super().step(k)


print([catch(outside, deleted, 1) for _ in range(150)][-1])


def with_cell(value):
    if value is not None:
        __class__ = value

    def method(self, k):
        return super().step(k)

    method.__closure__
    __class__
    return method


methods = [with_cell(Deleted), with_cell(Middle), with_cell(5)]
print([[catch(m, deleted, 1) for m in methods[:1] + methods[2:]] for _ in range(120)][-1])
print([catch(methods[0], Deleted(i), 1) for i in range(120)][-1], catch(methods[1], middle, 1), catch(methods[0], middle, 1))


class Empty(Base):
    def step(self, k):
        return super().step(k)


empty = Empty(1)
[empty.step(1) for _ in range(100)]
cell = Empty.step.__closure__[0]
del cell.cell_contents
print(catch(empty.step, 1))
cell.cell_contents = Base
print(catch(empty.step, 1))
cell.cell_contents = Empty
print(empty.step(1))


class Shadow(Base):
    def step(self, k):
        return super().step(k)


shadow = Shadow(1)
[shadow.step(1) for _ in range(100)]


class Fake:
    def __init__(self, *args):
        self.args = args

    def step(self, k):
        return "fake", len(self.args), k


super, builtin = Fake, super
print(shadow.step(2))
del super
print(shadow.step(2))


class Reclassed(Base):
    def step(self, k):
        return super().step(k)


class Further(Reclassed):
    pass


one = Reclassed(1)
for i in range(120):
    last = one.step(1)
one.__class__ = Further
print(last, one.step(1), [one.step(1) for _ in range(100)][-1])


class Getattr(Base):
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def step(self, k):
        return super().step(k)


getattr_ = Getattr(1)
print([getattr_.step(1) for _ in range(120)][-1])


class Number(int):
    def __new__(cls, n):
        return super().__new__(cls, n + 1)

    def __add__(self, other):
        return super().__add__(other) + 1

    def __repr__(self):
        return "N" + super().__repr__()


print([Number(i) + 1 for i in range(150)][-1], Number(3))


class Noisy(Base):
    def __del__(self):
        print("end", self.n)

    def step(self, k):
        return super().step(k)


def temporary(n):
    return Noisy(n).step(1)


for i in range(60):
    if i > 57:
        temporary(i)
    else:
        noisy = Noisy(-1)
        noisy.step(1)
        noisy.n = "kept"
        del noisy


# One call each: the loop is entered in the midst, and the order of classes, a class attribute and the cell change on the way.
Base.limit = 5
Middle.__subclasses__()
print(Middle(3).looped(1000), Middle(4).looped(1000))


class Swapped(Base):
    def looped(self, n):
        found = []
        for k in range(n):
            if k == n - 3:
                Swapped.looped.__closure__[0].cell_contents = int
            try:
                found.append(super().step(1))
            except TypeError as error:
                found.append(str(error))
        return found[-5:]


print(Swapped(1).looped(1000))
