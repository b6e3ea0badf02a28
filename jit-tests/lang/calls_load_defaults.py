"""Defaults of functions that are made again and again: each call loads them from its function. They are replaced between calls
and during one, missing, in a subclass's dict, and die with their function; keyword-only ones too."""

import sys


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def count(n):
    def f(x, k=3, *, j=1):
        return x + k - j

    total = 0
    for i in range(n):
        total += f(i) + f(i, 2) + f(i, j=4) + f(k=i, x=1) + f(i, 5, j=6)
    return total


def made_each_time(n):
    total = 0
    for i in range(n):
        k = i & 7

        def f(x, k=k, *, j=-k):
            return x * k + j

        g = lambda a, b=i: a - b
        total += f(i) + f(1) + f(1, j=2) + g(3) + g(3, 4)
    return total


def maker(j):
    def f(x, k=3, *, m=(1, 2)):
        return x + k + j + len(m)

    return f


def through_closures(n):
    total = 0
    for i in range(n):
        f = maker(i)
        for k in range(4):
            total += f(k) + f(k, 1) + f(k, m="abc")
    return total


def replaced(n):
    out = []

    def f(x, k=3, *, j=1):
        return x, k, j

    for i in range(n):
        if i == n // 2:
            f.__defaults__ = (1000,)
        if i == n // 2 + 5:
            f.__kwdefaults__ = {"j": 2000}
        if i == n // 2 + 9:
            f.__kwdefaults__["j"] = 3000
        if i == n // 2 + 12:
            f.__defaults__ = (7, 8)
        out.append(f(i))
        if i > n // 2 + 12:
            out.append(f())
    return out[n // 2 - 2 :]


def missing(n):
    out = []

    def f(x, k=3, *, j=1):
        return x + k + j

    for i in range(n):
        if i == n // 3:
            f.__defaults__ = None
        if i == n // 2:
            f.__defaults__ = ()
        if i == 2 * n // 3:
            f.__defaults__ = (5,)
            f.__kwdefaults__ = None
        if i == n - 3:
            f.__kwdefaults__ = {}
        if i == n - 1:
            f.__kwdefaults__ = {"j": 4}
        try:
            out.append(f(i))
        except TypeError as e:
            out.append(str(e))
    return out[n // 3 - 1 : n // 3 + 3] + out[-8:]


def in_the_callee(n):
    """The callee replaces the defaults while it runs with them."""
    out = []

    def f(i, k=Loud("first"), *, j=Loud("named")):
        if i == n // 2:
            f.__defaults__ = (Loud("second"),)
            f.__kwdefaults__ = {"j": Loud("other")}
            out.append((k.name, j.name))
        return k.name, j.name

    for i in range(n):
        out.append(f(i))
    f = None
    return out[n // 2 - 1 : n // 2 + 3]


def dies(n):
    for i in range(n):

        def f(x, k=Loud(f"default {i}") if i % 20 == 3 else None):
            return x, k is None

        f(i)
        f(x=1)
    print("over")


class Names(dict):
    def __getitem__(self, key):
        return "never"


def odd_dicts(n):
    def f(x, *, j=1, other=2):
        return x, j, other

    out = []
    for i in range(n):
        if i == n // 2:
            f.__kwdefaults__ = Names(j=10, other=20)
        if i == n // 2 + 3:
            f.__kwdefaults__ = {"other": 200, 5: 6, "j": 100}
        if i == n // 2 + 6:
            f.__kwdefaults__ = {str(k): k for k in range(300)} | {"j": "late", "other": "last"}
        out.append(f(i))
    return out[n // 2 - 1 : n // 2 + 8]


def counted(n):
    value = object()

    def f(x, k=value, *, j=value):
        return x

    before = sys.getrefcount(value)
    for i in range(n):
        f(i)
        f(i, j=0)
        f(i, value)
    return sys.getrefcount(value) - before


def spread(n):
    def f(a, b=2, *, c=3):
        return a * b + c

    total = 0
    for i in range(n):
        args = (i,) if i % 2 else (i, 5)
        total += f(*args)
    return total


def overflows(n):
    """The exit is in the inlined callee, whose locals have the defaults."""

    def f(x, k=1, *, j=2):
        return x * k + j

    out = []
    for i in range(n):
        out.append(f(2**61 if i == n - 2 else i, k=8 if i == n - 2 else 1))
        if i == n - 1:
            f.__defaults__ = (2.5,)
        out.append(f(i))
    return out[-6:]


def several(n):
    def one(x, k=1):
        return x + k

    def two(x, k=2, *, j=3):
        return x * k + j

    def three(x, k, j=0):
        return x

    total = 0
    for i in range(n):
        for f in (one, two, three):
            try:
                total += f(i)
            except TypeError as e:
                total += len(str(e))
    return total


def raises(n):
    def f(x, k=0, *, j=1):
        return x // k + j

    out = []
    for i in range(n):
        try:
            out.append(f(i, *((0,) if i % 7 == 5 else (3,))))
            out.append(f(i))
        except ZeroDivisionError as e:
            tb = e.__traceback__.tb_next
            out.append((tb.tb_frame.f_code.co_name, sorted(tb.tb_frame.f_locals.items())))
    return out[-8:]


for _ in range(3):
    print(count(300), made_each_time(300), through_closures(90), counted(200), spread(200), several(120))
print(replaced(80))
print(missing(90))
print(in_the_callee(80))
print(odd_dicts(80))
print(overflows(90))
print(raises(90))
dies(60)
