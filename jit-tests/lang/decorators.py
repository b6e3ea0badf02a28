"""Lambdas, decorators, partials, caches, sort keys, nested functions made in loops, star-args passing through."""

import functools
import itertools
import operator


def counted(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return f(*args, **kwargs)
    wrapper.calls = 0
    return wrapper


def times(k):
    def decorate(f):
        def wrapper(*args):
            return k * f(*args)
        return wrapper
    return decorate


@counted
@times(3)
def plus(a, b=1):
    return a + b


@functools.lru_cache(maxsize=None)
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


@functools.cache
def fails(n):
    raise ValueError(n)


def calls(n):
    s = 0
    for i in range(n):
        s += plus(i) + plus(i, 2)
    return s


def lambdas(n):
    s = 0
    for i in range(n):
        f = lambda x, k=i: x * k
        s += f(2) + (lambda: i)()
    return s


def compose(*fs):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), fs)


def higher(n):
    inc = functools.partial(operator.add, 1)
    return sum(map(inc, filter(lambda x: x % 2, range(n)))), sorted(range(10), key=lambda x: (x % 3, -x))


def makes_functions(n):
    s = 0
    for i in range(n):
        def local(x, *rest, scale=2, **extra):
            if rest:
                return local(*rest, scale=scale) + x
            return x * scale + len(extra)
        s += local(i) + local(1, 2, 3) + local(1, scale=0, z=1)
    return s


def groups(n):
    out = []
    for k, g in itertools.groupby(range(n), key=lambda x: x // 100):
        out.append((k, sum(g)))
    return out


class Cached:
    def __init__(self):
        self.computed = 0

    @functools.cached_property
    def value(self):
        self.computed += 1
        return 42

    @functools.singledispatchmethod
    def show(self, x):
        return "object"

    @show.register
    def _(self, x: int):
        return "int"


def cached(n):
    c = Cached()
    return sum(c.value for _ in range(n)), c.computed, [c.show(x) for x in (1, "s", True)]


print(calls(400), plus.calls, plus.__name__, ways(90), lambdas(400), compose(abs, str, len)(-12345), higher(400))
print(makes_functions(300), groups(400), cached(300))
for f in (lambda: plus(), lambda: plus("x"), lambda: fails(3), lambda: ways([]), lambda: calls("x"), lambda: compose()):
    try:
        f()
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
print(sorted("banana", key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b))), max(range(400), key=lambda x: x * 37 % 401))
try:
    sorted([3, "a", 1] * 100, key=lambda x: x)
except TypeError as error:
    print(error)
