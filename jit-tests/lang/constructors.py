"""Instances made by compiled code: __init__ called directly, what it raises, gives or is replaced by, and who watches."""

import sys
import traceback


class Point:
    def __init__(self, x, y=0):
        self.x = x
        self.y = y

    def __repr__(self):
        return f"Point({self.x!r}, {self.y!r})"


def points(n):
    found = []
    for i in range(n):
        found.append(Point(i, i + 1))
        found.append(Point(i))
    return found


def catch(f, *args):
    try:
        return f(*args)
    except Exception as error:
        where = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        return type(error).__name__, str(error), where


print(points(300)[-2:])


class Counted:
    alive = 0

    def __init__(self, n):
        Counted.alive += 1
        if n % 7 == 3:
            raise ValueError(n)
        self.n = n

    def __del__(self):
        Counted.alive -= 1


def make(n):
    return Counted(n)


def count(n):
    good = 0
    for i in range(n):
        try:
            make(i)
            good += 1
        except ValueError as error:
            last = error.args[0], Counted.alive
    return good, last, Counted.alive


print(count(400), catch(make, 3))


class Wrong:
    def __init__(self, result):
        self.result = result
        return result


def wrong(result):
    return Wrong(result).result


print([catch(wrong, None) for _ in range(200)][-1], catch(wrong, 5), catch(wrong, "text"))


def few(n):
    return Point()


def many(n):
    return Point(1, 2, 3)


def named(n):
    return Point(y=n, x=2)


def starred(n):
    return Point(*[n, n + 1])


print([catch(f, 1) for f in (few, many, named, starred) for _ in range(150)][149::150])


class Depth:
    def __init__(self, n):
        self.frames = [sys._getframe(0).f_code.co_name, sys._getframe(1).f_code.co_name]
        self.count = sys.getrefcount(self)
        self.below = Depth(n - 1) if n else None


def nested(n):
    return Depth(n)


for _ in range(150):
    deep = nested(3)
print(deep.frames, deep.below.frames, deep.below.below.below.below)


class Chain:
    def __init__(self, n):
        self.next = Chain(n + 1)


def chain():
    try:
        Chain(0)
    except RecursionError as error:
        return str(error)


print([chain() for _ in range(3)])


def old_init(self, a):
    self.a = a


def new_init(self, a):
    self.b = [a]


class Changing:
    __init__ = old_init


def change(n):
    made = []
    for i in range(n):
        made.append(vars(Changing(i)))
        if i == n // 2:
            Changing.__init__ = new_init
        if i == n // 2 + 5:
            new_init.__code__ = (lambda self, a: setattr(self, "c", -a)).__code__
    return made


made = change(400)
print(made[0], made[200:202], made[205:208], made[-1])
del Changing.__init__
print(catch(change, 3))


class Meta(type):
    def __call__(cls, *args):
        return ("meta", args)


class WithMeta(metaclass=Meta):
    def __init__(self, a):
        raise AssertionError


class WithNew:
    def __new__(cls, a):
        return [a]

    def __init__(self, a):
        raise AssertionError


class Slots:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Number(int):
    def __init__(self, a):
        self.twice = 2 * a


class Child(Slots):
    pass


class Generator:
    def __init__(self, a):
        yield a


def others(a):
    return WithMeta(a), WithNew(a), Slots(a).a, Number(a).twice, Child(a).a


print([others(i) for i in range(300)][-1])
print([catch(lambda: Generator(1)) for _ in range(200)][-1][:2])

Slots.__new__ = lambda cls, a: object.__new__(cls)
print(others(5))
WithMeta.__call__ = None


class Abstract:
    def __init__(self):
        pass


def abstract():
    return type(Abstract()).__name__


for _ in range(200):
    abstract()
Abstract.__abstractmethods__ = frozenset(["missing"])
print(catch(abstract))


class Local:
    def __init__(self, a, /, b, c=3, d=4):
        self.all = (a, b, c, d)


def local_class(a):
    class Inner:
        def __init__(self, b):
            self.b = b

    return Inner(a).b, Local(a, 2).all, Local(a, 2, 5).all, Local(1, a, d=7).all


print([local_class(i) for i in range(200)][-1])
