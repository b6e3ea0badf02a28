"""Defaults: made once, shared, mutable, seen by later calls, replaced and removed while callers are hot."""

from support import each, hot


def collect(x, into=[]):
    into.append(x)
    return len(into)


def three(a, b=2, c=(3, 4)):
    return a, b, c


def calls(n):
    out = []
    for i in range(n):
        out.append(three(i))
        out.append(three(i, c=i))
        out.append(three(b=i, a=1))
    return out[-3:]


def replaced(n):
    seen = []
    for i in range(n):
        if i == n // 2:
            three.__defaults__ = ("new", "defaults")
        if i == n - 10:
            three.__defaults__ = ("last",)
        if i == n - 5:
            three.__defaults__ = None
        try:
            what = three(i, 1) if i % 2 else three(0)
        except TypeError as error:
            what = str(error)
        if i > n - 12 or i in (n // 2 - 1, n // 2):
            seen.append(what)
    return seen


def late(n):
    def make(k):
        def inner(x, y=k):
            return x + y
        return inner
    return [make(k)(1) for k in range(n)]


print(collect(0), max(collect(i) for i in range(200)), len(collect.__defaults__[0]))
hot(calls, 40)
for row in replaced(150):
    print(row)
hot(late, 6)
three.__defaults__ = (1, 2)
each(three, (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4))
