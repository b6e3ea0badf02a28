"""functools and operator in hot code: reduce, lru_cache, wraps, partialmethod, total_ordering, singledispatch, cmp_to_key, itemgetter."""

import functools
import operator

from support import each, hot


@functools.lru_cache(maxsize=8)
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


@functools.lru_cache
def typed(x, *, k=1):
    if x == "fail":
        raise LookupError(x)
    return [x, k]


def wrapping(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        inner.calls += 1
        return f(*args, **kwargs)
    inner.calls = 0
    return inner


@wrapping
def wrapped(a, b=2):
    """Doc."""
    return a * b


@functools.total_ordering
class Version:
    def __init__(self, *parts):
        self.parts = parts

    def __eq__(self, other):
        return self.parts == other.parts if isinstance(other, Version) else NotImplemented

    def __lt__(self, other):
        return self.parts < other.parts if isinstance(other, Version) else NotImplemented


@functools.singledispatch
def shown(x):
    return "object"


@shown.register
def _(x: int):
    return "int"


@shown.register(list)
@shown.register(tuple)
def _(x):
    return [shown(y) for y in x]


class Cell:
    def set(self, state, extra=None):
        self.state = state, extra
        return self.state

    alive = functools.partialmethod(set, True)
    dead = functools.partialmethod(set, False, extra="dead")


def compare(a, b):
    return len(b) - len(a) or (a > b) - (a < b)


def reduced(f, items, *start):
    return functools.reduce(f, items, *start)


def orders(a, b):
    return a < b, a <= b, a > b, a >= b, a == b


def fib(n):
    cached.cache_clear()
    return [cached(i) for i in range(n)], cached.cache_info()


def memo(x):
    typed.cache_clear()
    try:
        a = typed(x)
        return typed(x) is a, typed(x, k=1) is a, typed.cache_info()
    except LookupError as error:
        return str(error), typed.cache_info().misses


each(reduced, (operator.add, [1, 2, 3]), (operator.mul, [], 5), (operator.add, []), (lambda a, b: a + [b], "abc", []), (max, [3, 1, 4]), (operator.truediv, [1, 0]), (5, [1, 2]), (operator.add, 5))
hot(fib, 12)
each(memo, (1,), (1.0,), ("fail",), ([],))
hot(lambda: (wrapped(3), wrapped(3, b=4), wrapped.__name__, wrapped.__doc__, wrapped.__wrapped__(1)))
each(orders, (Version(1, 2), Version(1, 3)), (Version(1), Version(1)), (Version(1), 5))
each(shown, (1,), (True,), ("a",), ([1, "b", (2,)],), (None,))
hot(lambda: (Cell().alive(), Cell().dead(), Cell().dead(extra="x")))
each(lambda x: sorted(x, key=functools.cmp_to_key(compare)), (["bb", "a", "aa", "ccc"],), ([],), ([1],), ([1, 2],))
rows = [{"a": 1, "b": [2]}, {"a": 0, "b": [1]}]
hot(lambda: (sorted(map(operator.itemgetter("a"), rows)), operator.itemgetter(0, -1)("xyz"), operator.attrgetter("real", "imag")(3), operator.methodcaller("split", ",")("a,b"), operator.index(True), operator.concat([1], [2])))
