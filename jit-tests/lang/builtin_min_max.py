"""min, max, sum, any, all, sorted: keys, defaults, ties, nan, mixed types, errors within, one argument or many, replaced while hot."""

import builtins

from support import each, hot


class Odd:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        if self.n is None:
            raise LookupError("compare")
        return self.n < other.n

    def __gt__(self, other):
        return "truthy"

    def __add__(self, other):
        return Odd(self.n + getattr(other, "n", other))

    __radd__ = __add__

    def __repr__(self):
        return f"Odd({self.n})"


nan = float("nan")


def many(a, b, c):
    return min(a, b, c), max(a, b, c), min(a, b), max(b, c)


def of(items, **kw):
    return min(items, **kw), max(items, **kw)


def summed(items, *start):
    return sum(items, *start)


def tests(items):
    return any(items), all(items), any(x == 2 for x in items), all(x for x in items)


def loop(n):
    low, high, total = 10, -10, 0.0
    for i in range(n):
        x = (i * 7) % 11 - 5
        low = min(low, x)
        high = max(high, x, i % 3)
        total = max(total, x / 2)
    return low, high, total


def clamp(x, lo, hi):
    return max(lo, min(x, hi))


def wrong(how):
    if how == 0:
        return min()
    if how == 1:
        return min(1)
    if how == 2:
        return max(1, 2, default=3)
    if how == 3:
        return max([], default=9)
    if how == 4:
        return max([])
    if how == 5:
        return min(1, 2, key=5)
    if how == 6:
        return sum("ab")
    if how == 7:
        return sum([[1], [2]], [])
    if how == 8:
        return sum([b"a"], b"")
    if how == 9:
        return sum([1], "x")
    if how == 10:
        return max(1, 2, kay=3)
    return sum()


def replaced(n):
    out = []
    for i in range(n):
        if i == n - 3:
            builtins.max = lambda *a: "mine"
        out.append(max(i, 5))
    builtins.max = saved
    return out[-5:], max(1, 2)


saved = max
each(many, (1, 2, 3), (1.5, 1, 2), (1, 1.0, True), (True, 1, 1.0), ("a", "b", "ab"), (nan, 1, 2), (1, nan, 2), (-0.0, 0.0, 0), (1, "a", 2), (2**70, 2**64, 0), ((1,), (1, 2), ()), (Odd(1), Odd(2), Odd(0)), (Odd(None), Odd(1), Odd(2)), ([], [], []))
each(of, ([3, 1, 2],), ("hello",), ([],), (5,), ({"b": 1, "a": 2},), ((x for x in (1, "a")),), ([[1], [0]],), ([None],))
hot(lambda: (of([3, -4, 1], key=abs), of("bca", key=lambda c: -ord(c)), of([], default="none"), of([1], key=None), of(["aa", "b"], key=len, default=0)))
hot(lambda: of([1, 0], key=lambda x: 1 / x))
each(summed, ([1, 2, 3],), ([0.1] * 10,), ([1, 0.5, 2**70],), ([],), ([], 5), ([True, True],), ([Odd(1), Odd(2)],), ([1j, 2],), ([1, "a"],), ((x for x in (1, 2)),), ([2**62, 2**62],), ([1e308, 1e308, -1e308],), ([nan, 1],), (range(100),), (5,))
each(tests, ([0, "", 2],), ([],), ([1, 2],), ("ab",), ([Odd(1)],), (5,), ([[], [0]],))
each(loop, (0,), (40,))
each(clamp, (5, 0, 3), (-1, 0, 3), (2, 0, 3), (2.5, 0, 3), ("b", "a", "c"), (1, "a", 2))
each(wrong, *[(i,) for i in range(12)])
print(replaced(80), replaced(80))
