# Calls that an instruction makes of user functions: setters, `__enter__` and `__exit__`, `__next__`,
# namedtuples, wrappers that pass their arguments on, and calls of one of several functions. Each is
# hot first; then what it relies on changes.
import collections
import functools
import sys
import traceback

HOT = 400



def names(error):
    return [f.name for f in traceback.extract_tb(error.__traceback__)]


class Cell:
    def __init__(self, v):
        self._v = v
        self.log = 0

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        self._v = value + 1


class Deep(Cell):
    @Cell.v.setter
    def v(self, value):
        if value < 0:
            raise ValueError(value)
        self._v = value


def set_all(cells, n):
    for k in range(n):
        for cell in cells:
            cell.v = k
            cell.v += 1
    return [cell._v for cell in cells]


def setters():
    print(set_all([Cell(0)], HOT), set_all([Deep(0)], HOT), set_all([Cell(0), Deep(1)], HOT))
    # An int that is too large for a word, and a class that cannot be added to.
    print(set_all([Cell(0)], 3))
    cell = Cell(0)

    def put(value):
        cell.v = value

    for k in range(HOT):
        put(k)
    put(2**80)
    print(cell._v)
    try:
        put("x")
    except TypeError as error:
        print(error, names(error))
    try:
        Deep(0).v = -1
    except ValueError as error:
        print(error, names(error))
    Cell.v = property(lambda self: 7, lambda self, value: setattr(self, "log", value))
    put(5)
    print(cell.log, cell.v, cell._v)
    Cell.v = 3
    put(6)
    print(cell.v, cell.__dict__)


class Manager:
    def __init__(self, out):
        self.out = out

    def __enter__(self):
        self.out[0] += 1
        return self

    def __exit__(self, kind, value, tb):
        self.out[1] += 1
        return kind is KeyError


class Many(Manager):
    def __exit__(self, *given):
        self.out[1] += len(given)


def enter_all(make, out, n, fails=None):
    total = 0
    for k in range(n):
        with make(out) as manager:
            total += k
            if k == fails:
                raise KeyError(k)
    return total


def managers():
    out = [0, 0]
    print(enter_all(Manager, out, HOT), enter_all(Many, out, HOT), out)
    print(enter_all(Manager, out, HOT, fails=3), out)
    try:
        enter_all(Many, out, HOT, fails=HOT - 1)
    except KeyError as error:
        print(error, names(error), out)

    def one(manager):
        with manager:
            return 1

    manager = Manager(out)
    for k in range(HOT):
        one(manager)
    manager.__enter__ = None  # The class alone is asked.
    print(one(manager), out)
    out[0] = 2**70
    print(one(manager), out)
    Manager.__enter__ = lambda self: self.out.append("entered")
    print(one(manager), out)
    del Manager.__exit__
    try:
        one(manager)
    except TypeError as error:
        print(type(error).__name__, names(error))


class Count:
    def __init__(self, n):
        self.n = n
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i


class Failing(Count):
    def __next__(self):
        if self.i >= self.n:
            raise StopIteration(self.i)
        self.i += 1
        if self.i == 7:
            raise ValueError("seven")
        return self.i


class Nothing:
    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration


def add(iterable):
    total = 0
    for v in iterable:
        total += v
    else:
        total += 1000
    return total


def add_many(make, n, times):
    total = 0
    for k in range(times):
        for v in make(n):
            total += v
    return total


def iterators():
    print(add_many(Count, 20, HOT), add_many(Failing, 5, HOT), sum(add(Count(9)) for k in range(HOT)))
    print(add(Nothing()), add(Count(0)))
    try:
        add(Failing(10))
    except ValueError as error:
        print(error, names(error))
    try:
        add_many(Failing, 10, 2)
    except ValueError as error:
        print(error, names(error))
    # The place of the iterator overflows a word in mid-loop.
    it = Count(2**64 + 3)
    it.i = 2**64 - 2
    print(add(it))
    it = Count(2**63 + 3)
    it.i = 2**63 - 3
    print(add(it), it.i)
    Count.__next__ = lambda self: self.stop()
    Count.stop = lambda self: next(iter(()))
    print(add(Count(4)))
    Count.__iter__ = lambda self: iter([1, 2, 3])
    print(add(Count(4)), add_many(Count, 3, 3))
    del Count.__iter__
    try:
        add(Count(4))
    except TypeError as error:
        print(type(error).__name__, names(error))


Point = collections.namedtuple("Point", "x y z", defaults=[5])


class Named(Point):
    def norm(self):
        return self.x + self.y


class Slotted(Point):
    __slots__ = ()


def points(n):
    total = 0
    last = None
    for k in range(n):
        p = Point(k, 2)
        q = Point(y=k, x=1, z=p)
        r = Slotted(k, k)
        total += p.x + q.y + r.z + q.z.z
        if k == n - 1:
            last = p, q, r
    return total, last


def tuples():
    print(points(HOT))
    print(points(HOT)[1][1].z._replace(x=9), Named(1, 2).norm(), Named(1, 2, 3))
    for wrong in (lambda: Point(1), lambda: Point(1, 2, 3, 4), lambda: Point(1, 2, w=3)):
        try:
            wrong()
        except TypeError as error:
            print(error)
    class Dies:
        def __init__(self, name):
            self.name = name

        def __del__(self):
            order.append(self.name)

    order = []

    def drop(n):
        for k in range(n):
            Point(Dies("a"), Dies("b"), Dies("c"))

    drop(HOT)
    print(order[:6], len(order))
    print([sys.getrefcount(p) - sys.getrefcount(object()) for p in [Point(1, 2)]])
    Point.__new__.__defaults__ = (6,)
    print(points(2))
    Point.__new__ = lambda cls, *given: tuple.__new__(cls, given + given)
    try:
        print(points(2))
    except TypeError as error:
        print(error)


def passes(f):
    @functools.wraps(f)
    def wrapper(*args, **names):
        return f(*args, **names)

    return wrapper


def passes_position(f):
    def wrapper(*args):
        return f(*args)

    return wrapper


@passes
def sub(a, b, c=0):
    return a - b - c


@passes_position
def half(a, b):
    return a // b


def wrapped(n):
    total = 0
    for k in range(1, n):
        total += sub(k, 1) + half(2 * k, k)
    return total


def wrappers():
    print(wrapped(HOT), wrapped(HOT))
    print(sub(1, 2, 3), sub(1, 2, c=3), sub(b=1, a=2), sub(2**70, 1), half(2**70, 3))
    for wrong in (lambda: half(1, 0), lambda: half(1), lambda: sub(1, 2, 3, 4), lambda: sub(1, "x"), lambda: sub(1, 2, d=3)):
        try:
            wrong()
        except (TypeError, ZeroDivisionError) as error:
            print(error, names(error))
    sub.__closure__[0].cell_contents = lambda *args, **names: (args, names)
    print(sub(1, 2), sub(1, c=2))
    half.__closure__[0].cell_contents = divmod
    print(half(7, 2))


def first(x):
    return x + 1


def second(x):
    return x * 2


def third(x, y=3):
    return x - y


TABLE = {"a": first, "b": second, "c": third}


def by_name(keys, n):
    total = 1
    for k in range(n):
        for key in keys:
            total = TABLE[key](total) & 0xFFFF
    return total


def local_functions(n, k):
    functions = [lambda x: x + k, lambda x: x * 3, abs]
    total = 1
    for i in range(n):
        for f in functions:
            total = f(total) & 0xFFFF
    return total


def several():
    print(by_name("ab", HOT), by_name("abc", HOT), by_name("acb", HOT))
    print(local_functions(HOT, 1), local_functions(HOT, 2), local_functions(HOT, 1))
    TABLE["b"] = lambda x: x + 10
    print(by_name("abc", HOT))
    third.__defaults__ = (4,)
    print(by_name("abc", HOT))
    first.__code__ = (lambda x: x - 1).__code__
    print(by_name("abc", HOT))
    TABLE["c"] = str
    try:
        by_name("abc", 1)
    except TypeError as error:
        print(error, names(error))
    TABLE["c"] = lambda x, y: x
    try:
        by_name("abc", 1)
    except TypeError as error:
        print(error, names(error))


setters()
managers()
iterators()
tuples()
wrappers()
several()
