"""Calls of instances whose class has `__call__`, and of `functools.partial`."""

import functools
import traceback


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x, offset=0):
        return x * self.factor + offset


class Other:
    def __call__(self, x, offset=0):
        return ("other", x, offset)


def apply(f, n):
    total = 0
    for i in range(n):
        total += f(i)
    return total


def apply_named(f, n):
    total = 0
    for i in range(n):
        total += f(i, offset=i)
    return total


scale = Scale(3)
for _ in range(5):
    print(apply(scale, 300), apply_named(scale, 300))

# The instance takes another class, and the class another `__call__`.
print(apply(Scale(4), 300))


def one(f, x):
    return f(x)


for _ in range(400):
    one(scale, 2)
scale.__class__ = Other
print(one(scale, 2))
scale.__class__ = Scale
print(one(scale, 2))
old = Scale.__call__
Scale.__call__ = lambda self, x: -x
print(one(scale, 2))
Scale.__call__ = old
print(one(scale, 2))
del Scale.__call__
try:
    one(scale, 2)
except TypeError as e:
    print(e)
Scale.__call__ = old


class Fails:
    def __call__(self, x):
        if x == 350:
            raise ValueError(x)
        return x


def run(f, n):
    s = 0
    for i in range(n):
        s += f(i)
    return s


fails = Fails()
for _ in range(3):
    print(run(fails, 300))
try:
    run(fails, 400)
except ValueError as e:
    print([(t.name, t.lineno) for t in traceback.extract_tb(e.__traceback__)])


def wrong(f, n):
    for _ in range(n):
        try:
            f()
        except TypeError as e:
            last = str(e)
    return last


print(wrong(Scale(1), 300))


# Partials.
def add(a, b, c=0):
    return a + b * 2 + c * 3


def call_one(f, n):
    s = 0
    for i in range(n):
        s += f(i)
    return s


def call_keyword(f, n):
    s = 0
    for i in range(n):
        s += f(i, c=i)
    return s


p = functools.partial(add, 5)
k = functools.partial(add, 5, c=2)
for _ in range(4):
    print(call_one(p, 300), call_keyword(p, 300))
    print(call_one(k, 300), call_keyword(k, 300))
print(call_one(functools.partial(add, "a"), 0))

for _ in range(400):
    one(p, 1)
p.__setstate__((add, (7,), {}, None))
print(one(p, 1))
p.__setstate__((add, (7,), {"c": 1}, None))
print(one(p, 1))
p.__setstate__((max, (7,), {}, None))
print(one(p, 1))


class Sub(functools.partial):
    def __call__(self, *args):
        return ("sub", super().__call__(*args))


for _ in range(300):
    r = one(Sub(add, 1), 2)
print(r)


def temporary(n):
    s = 0
    for i in range(n):
        s += functools.partial(add, i)(2)
    return s


for _ in range(3):
    print(temporary(300))


def raises(a, b):
    raise KeyError(a, b)


def guarded(f, n):
    c = 0
    for i in range(n):
        try:
            f(i)
        except KeyError as e:
            c += e.args[0] + e.args[1]
    return c


for _ in range(3):
    print(guarded(functools.partial(raises, 1), 300))
print(wrong(functools.partial(add), 300))
if hasattr(functools, "Placeholder"):
    q = functools.partial(add, functools.Placeholder, 4)
    assert call_one(q, 300) == sum(i + 8 for i in range(300))
