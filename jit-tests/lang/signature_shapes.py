"""Every shape of signature: star arguments, keyword-only ones, keywords of any name, and the errors of calls."""

import gc
import sys


def stars(*args):
    return len(args), args


def keywords(**kw):
    kw["new"] = 1
    return sorted(kw.items())


def only(a, *, b, c=3):
    return a + b + c


def everything(a, b=2, /, c=3, *args, d, e=5, **kw):
    total = a + b + c + d + e
    for x in args:
        total += x
    for k in kw:
        total += kw[k]
    return total, args, kw


def captured(*args, **kw):
    def inner():
        return args, kw

    args = args + (9,)
    return inner()


def forward(*args, **kw):
    return everything(*args, **kw)


class Holder:
    def __init__(self, *args, **kw):
        self.args = args
        self.kw = kw

    def method(self, x, *rest, scale=1):
        return (x + sum(rest)) * scale

    def __call__(self, *args):
        return self.method(*args, scale=2)


def deep(n, *args, **kw):
    if n == 0:
        return args, kw
    return deep(n - 1, *args, n, **kw)


def raises(*args, key=None):
    if key is not None:
        raise KeyError(key, args)
    return args


def attempt(f, /, *args, **kw):
    try:
        print(f(*args, **kw), end=" ")
    except Exception as error:
        tb = error.__traceback__
        lines = []
        while tb:
            lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        print(type(error).__name__, error, lines)


for turn in range(60):
    quiet = turn != 59
    if quiet:
        stars(1, 2), keywords(a=1), only(1, b=2), everything(1, d=4), captured(1, x=2), forward(1, 2, 3, 4, d=1, z=2)
        Holder(1, k=2).method(1, 2, 3, scale=4), Holder()(1, 2), deep(3, 1, k=2), raises(1)
        continue
    attempt(stars)
    attempt(stars, 1)
    attempt(stars, *range(20))
    attempt(stars, a=1)
    attempt(keywords)
    attempt(keywords, **{"x": 1, "new": 0})
    attempt(keywords, 1)
    attempt(only, 1, b=2)
    attempt(only, 1, c=2)
    attempt(only, 1, 2)
    attempt(only, 1, b=1, a=2)
    attempt(only, a=1, b=2, c=4)
    attempt(everything, 1, d=1)
    attempt(everything, 1, 2, 3, 4, 5, d=1, e=2, f=3, a=4, b=5)
    attempt(everything, a=1, d=2)
    attempt(everything, 1)
    attempt(captured, 1, 2, x=3)
    attempt(forward, 1, d=1, q=7)
    attempt(forward, 1)
    attempt(Holder(1, 2, k=3).method, 1, 2, scale=3)
    attempt(Holder(), 5, 6)
    attempt(deep, 6, 0, k="v")
    attempt(raises, 1, 2, key="k")
    attempt(raises, 1, 2)


class Tracked:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name, end="; ")


def swallow(*args, last=None, **kw):
    args = None
    kw.clear()
    print("in", end="; ")


for _ in range(40):
    swallow(1, last=2, x=3)
swallow(Tracked("positional"), last=Tracked("only"), other=Tracked("keyword"))
print()
marked = object()
before = sys.getrefcount(marked)
for _ in range(10):
    stars(marked, marked)
    keywords(a=marked)
    only(1, b=2, c=3)
    attempt(raises, marked, key=1) if False else None
print(sys.getrefcount(marked) - before)
stars.__kwdefaults__ = None
only.__kwdefaults__ = {"c": 30}
print(only(1, b=2))
only.__kwdefaults__ = None
attempt(only, 1, b=2)
print(len(gc.get_referrers(marked)) < 5)
