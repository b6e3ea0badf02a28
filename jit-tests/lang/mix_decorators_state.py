"""Decorators with arguments and state over functions, methods, generators, coroutines and classes; stacked, unwrapped, raising, retried."""

from support import each, hot

log = []


def traced(label):
    def outer(f):
        def inner(*args, **kwargs):
            log.append(f"{label}>")
            try:
                return f(*args, **kwargs)
            except LookupError as error:
                log.append(f"{label}!")
                raise ValueError(label) from error
            finally:
                log.append(f"<{label}")
        inner.wrapped = f
        return inner
    return outer


def retry(times, *kinds):
    def outer(f):
        def inner(*args):
            for i in range(times):
                try:
                    return f(*args, i)
                except kinds as error:
                    last = error
            raise RuntimeError(f"{times} times") from last
        return inner
    return outer


class Counted:
    """A decorator that is a class, and works on methods by __get__."""

    def __init__(self, f):
        self.f, self.calls = f, 0

    def __call__(self, *args):
        self.calls += 1
        return self.f(*args)

    def __get__(self, obj, owner=None):
        return self if obj is None else lambda *args: self(obj, *args)


def registered(registry):
    def outer(cls):
        registry[cls.__name__] = cls
        cls.made = 0
        init = cls.__init__
        def __init__(self, *args):
            cls.made += 1
            init(self, *args)
        cls.__init__ = __init__
        return cls
    return outer


def consumer(f):
    def start(*args):
        g = f(*args)
        next(g)
        return g
    return start


@traced("a")
@traced("b")
def twice(x):
    if x is None:
        raise KeyError("none")
    return x * 2


@retry(3, ValueError, KeyError)
def flaky(need, attempt):
    if attempt < need:
        raise (ValueError if attempt % 2 else KeyError)(attempt)
    return "ok", attempt


@retry(2, ZeroDivisionError)
def divides(x, attempt):
    return 1 / (x + attempt)


class C:
    @Counted
    def method(self, x):
        return type(self).__name__, x

    @staticmethod
    @traced("s")
    def static(x):
        return x

    @property
    @traced("p")
    def prop(self):
        return [][5] if self.bad else "prop"

    bad = False


known = {}


@registered(known)
class Made:
    def __init__(self, x=1):
        self.x = x


@consumer
def averager():
    total = n = 0
    mean = None
    while True:
        total += yield mean
        n += 1
        mean = total / n


def run(f, *args):
    log.clear()
    try:
        result = f(*args)
    except Exception as error:
        result = repr(error), repr(error.__cause__)
    return result, list(log)


def uses(n):
    C.method.calls = 0
    c = C()
    return [c.method(i) for i in range(n)][-1], C.method.calls, C.method.f.__name__, C.static(5), c.prop


def bad():
    c = C()
    c.bad = True
    return c.prop


def created(n):
    Made.made = 0
    return [Made(i).x for i in range(n)], Made.made, known["Made"] is Made, Made().x


def averaged(values):
    g = averager()
    return [g.send(v) for v in values]


each(run, (twice, 2), (twice, "ab"), (twice, None), (twice, []), (twice,), (bad,))
each(run, (flaky, 0), (flaky, 2), (flaky, 3), (divides, 0), (divides, -0.0), (divides, "x"))
hot(uses, 4)
hot(created, 3)
each(averaged, ([1, 2, 6],), ([],), ([1.5, "x"],))
hot(lambda: (twice.wrapped.wrapped.__name__, twice.wrapped(1), len(log) > 0))
