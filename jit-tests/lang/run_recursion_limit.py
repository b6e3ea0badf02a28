"""Recursion without end in every way: functions, methods, hooks, operators, generators; the error caught, finally run, and life after it."""

import sys

from support import hot

sys.setrecursionlimit(220)


def plain(n):
    return plain(n + 1) + 1


def numbers(n):
    return 0 if n < 0 else numbers(n + 1)


def mutual(n):
    return other(n)


def other(n):
    return mutual(n + 1)


class Hooks:
    def __getattr__(self, name):
        return getattr(self, name + "x")

    def __eq__(self, o):
        return self == o

    def __hash__(self):
        return hash((self, 1))

    def __repr__(self):
        return f"<{self!r}>"

    def __add__(self, o):
        return self + o

    def __len__(self):
        return len(self)

    def __getitem__(self, i):
        return self[i]

    def __call__(self):
        return self()

    def __iter__(self):
        return iter(self)

    @property
    def prop(self):
        return self.prop

    def __contains__(self, x):
        return x in self

    def __bool__(self):
        return not self

    def __enter__(self):
        with self:
            pass

    def __exit__(self, *a):
        pass


def generator(n):
    yield from generator(n + 1)


def caught(n):
    try:
        return caught(n + 1)
    except RecursionError:
        return "caught"
    finally:
        log.append(1)


def entered(h):
    with h:
        return 1


def limit(function):
    log.clear()
    try:
        return str(function())[:20]
    except RecursionError as error:
        return type(error).__name__, len(log) > 50


log = []
h = Hooks()
ways = {"plain": lambda: plain(0), "numbers": lambda: numbers(0), "mutual": lambda: mutual(0), "generator": lambda: list(generator(0)), "caught": lambda: caught(0), "lambda": lambda: (lambda f: f(f))(lambda f: f(f)),
        "getattr": lambda: h.anything, "eq": lambda: h == Hooks(), "hash": lambda: hash(h), "repr": lambda: repr(h), "add": lambda: h + 1, "len": lambda: len(h), "item": lambda: h[0], "call": lambda: h(),
        "iter": lambda: list(h), "prop": lambda: h.prop, "contains": lambda: 1 in h, "bool": lambda: bool(h), "with": lambda: entered(h), "sort": lambda: sorted([3, 1], key=lambda x: plain(x)), "map": lambda: list(map(plain, [1]))}
for name, way in ways.items():
    print(name, end=" ")
    hot(limit, way, times=35)
sys.setrecursionlimit(1000)


def deep(n):
    return n if n == 0 else deep(n - 1) + 1


print([deep(k) for k in (10, 300, 800)], limit(lambda: deep(2000)), deep(800))
