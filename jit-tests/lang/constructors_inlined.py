"""Instances made in compiled code: what `__init__` does, where it is left, what classes may turn into."""

import abc
import gc
import sys
import traceback
import weakref


class Vector:
    def __init__(self, x, y=2):
        self.x = x
        self.y = y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)


class Slotted:
    __slots__ = ("x", "y", "__weakref__")

    def __init__(self, x, y):
        self.x = x
        self.y = y


class Bare:
    pass


class Below(Vector):
    pass


class Further(Vector):
    def __init__(self, x):
        super().__init__(x, x)
        self.z = x


class Checked:
    def __init__(self, n):
        if n < 0:
            raise ValueError(n)
        self.n = n


class Returns:
    def __init__(self, what):
        self.what = what
        return what


class Loud:
    """Says when it goes."""

    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name)


class Replaces:
    def __init__(self, old, new):
        self.value = old
        self.value = new


class Abstract(abc.ABC):
    @abc.abstractmethod
    def f(self): ...


class Meta(type):
    def __call__(cls, *args):
        return ("made", super().__call__(*args).x)


class Called(metaclass=Meta):
    def __init__(self, x):
        self.x = x


class Guarded:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Made:
    def __new__(cls, x):
        made = object.__new__(cls)
        made.by_new = x
        return made

    def __init__(self, x):
        self.x = x


class Looks:
    def __init__(self, x):
        self.x = x + 0
        self.frames = [f.f_code.co_name for f in above()]


def above():
    frame = sys._getframe(1)
    while frame and frame.f_code.co_name != "main":
        yield frame
        frame = frame.f_back


def many(n):
    total = 0
    for i in range(n):
        v = Vector(i)
        total += v.x + v.y
    return total


def walk(n):
    v, step = Vector(0.0, 0.0), Vector(1.0, 0.5)
    for _ in range(n):
        v = v.plus(step)
    return v.x, v.y


def each(cls, arguments):
    made = []
    for a in arguments:
        made.append(cls(a))
    return made


def vectors(pairs):
    return [Vector(x, y) for x, y in pairs]


def both(x, y):
    v, s = Vector(x, y), Slotted(y, x)
    return v.x, v.y, s.x, s.y


def checked(n):
    try:
        return Checked(n).n
    except ValueError as error:
        return "no", error.args


def returns(what):
    return Returns(what).what


def replaces(a, b):
    r = Replaces(a, b)
    return r.value


def further(n):
    f = Further(n)
    return f.x, f.y, f.z


def others(n):
    return Bare().__class__.__name__, Below(n).x, Called(n), Guarded(n).x, Made(n).by_new, Made(n).x


def shown(f, *args):
    try:
        return f(*args)
    except Exception as error:
        lines = [(frame.f_code.co_name, line - frame.f_code.co_firstlineno) for frame, line in traceback.walk_tb(error.__traceback__)]
        return type(error).__name__, str(error), lines[1:]


def wrong_one():
    return Vector()


def wrong_two():
    return Vector(1, 2, 3)


def wrong_three():
    return Bare(1)


def wrong_four():
    return Abstract()


def named(n):
    return Vector(y=n, x=n + 1).x, Vector(n, y=3).y, Vector(*[n, 4]).y


class Odd:
    def __add__(self, other):
        print("added in", sys._getframe(1).f_code.co_name, sorted(sys._getframe(1).f_locals))
        return 5


class Deep:
    def __init__(self, n):
        global reached
        reached = n
        self.below = Deep(n + 1)


def too_deep():
    found = set()
    for _ in range(3):
        try:
            Deep(0)
        except RecursionError as error:
            found.add(reached - len(traceback.extract_tb(error.__traceback__)))
    return found


def main():
    for _ in range(3):
        print(many(2000), walk(1000))
    for k in range(60):
        both(k, k + 1), checked(k % 3 - 1), replaces(k, k + 1), further(k), others(k), named(k)
        each(Vector, [1, 2]), vectors([(1, 2), (3, 4)])
        shown(returns, None), shown(wrong_one), shown(wrong_two), shown(wrong_three), shown(wrong_four)
    print(both(1, 2), both("a", None), checked(-5), checked(5), further(3), others(3), named(1))
    print(shown(returns, None), shown(returns, 5), shown(returns, "x"))
    print(shown(wrong_one), shown(wrong_two), shown(wrong_three), shown(wrong_four)[:1])
    print([v.x for v in each(Vector, [1, "a", None, 2.5])], [(v.x, v.y) for v in vectors([(1, 2), ("a", "b"), (2.5, None)])])
    print(Vector(1, 2).plus(Vector(3, 4)).y, shown(Vector(1, 2).plus, Vector("a", 4)), shown(Vector(1, 2).plus, None))
    for _ in range(50):
        each(Looks, [1, 2])
    print(each(Looks, [1])[0].frames, shown(each, Looks, [1, "a"]), each(Looks, [2.5])[0].frames)
    v = Vector(Odd(), 1)
    for _ in range(2):
        print(v.plus(Vector(2, 3)).x)

    # What goes away, and when.
    replaces(Loud("first"), Loud("second"))
    print("replaced")
    both(Loud("x"), Loud("y"))
    print("both")
    shown(checked, Loud("compared"))
    refs = [weakref.ref(v) for v in each(Slotted2, [1, 2, 3])]
    print([r() for r in refs])
    one = object()
    before = sys.getrefcount(one)
    for _ in range(100):
        both(one, one), replaces(one, one), Vector(one)
    gc.collect()
    print(sys.getrefcount(one) - before, too_deep())

    # What classes turn into.
    init = Vector.__init__
    Vector.__init__ = lambda self, x, y=7: (init(self, x, y), setattr(self, "x", -1))[0]
    print(many(3), walk(2))
    Vector.__init__ = init
    print(many(3), walk(2))
    Vector.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 1)
    print(shown(lambda: [(v.x, v.y) for v in vectors([(5, 6)])]))
    del Vector.__setattr__
    Vector.y = property(lambda self: 9, lambda self, value: print("set", value))
    print(shown(lambda: [v.y for v in vectors([(5, 6)])]))
    del Vector.y
    init.__defaults__ = (11,)
    print(shown(many, 3))
    init.__code__ = (lambda self, x, y: None).__code__
    print(shown(many, 3))
    Vector.__init__ = lambda self, x, y=2: (setattr(self, "x", x), setattr(self, "y", y))[0]
    Vector.__new__ = lambda cls, *args: object.__new__(Below)
    print(type(vectors([(1, 2)])[0]).__name__, many(3))
    del Vector.__new__
    print(shown(many, 3))


class Slotted2(Slotted):
    def __init__(self, x):
        self.x = self.y = x


main()
