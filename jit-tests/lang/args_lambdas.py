"""Lambdas and nested functions: every parameter form, defaults that capture, conditional bodies, lambdas that raise and yield."""

from support import each, hot


def made(n):
    fs = [lambda: i for i in range(n)]
    gs = [lambda i=i: i for i in range(n)]
    hs = [(lambda j: lambda k=j: (i, j, k))(i) for i in range(n)]
    return [f() for f in fs], [g() for g in gs], [h() for h in hs]


def forms():
    a = lambda x, /, y=2, *z, k=3, **w: (x, y, z, k, w)
    b = lambda *a: a
    c = lambda **k: k
    d = lambda x: (lambda: x)() if x else (lambda: -1)()
    return a(1), a(1, 2, 3, k=4, q=5), b(), b(1, 2), c(r=1), d(0), d(5)


def raising(x):
    f = lambda d: x / d
    return [f(1), f(x), f(0)]


def yielding(n):
    g = lambda m: (yield -m) if m < 0 else [(yield m), (yield m + 1)]
    it = g(n)
    return next(it), next(it, "ended"), next(it, "ended"), list(g(-n))


def sorting(items):
    return sorted(items, key=lambda p: (p[1], -p[0])), max(items, key=lambda p: p[0] - p[1]), list(filter(lambda p: p[0] % 2, items))


def named():
    f = lambda x: x
    return f.__name__, f.__qualname__, f.__defaults__, (lambda x=1: x).__defaults__, f.__code__.co_varnames


hot(made, 5)
hot(forms)
each(raising, (2,), (3.0,), (0,), ("a",))
hot(yielding, 4)
each(sorting, ([(1, 2), (3, 2), (2, 1)],), ([],), ([(1, "a"), (2, 3)],))
hot(named)
