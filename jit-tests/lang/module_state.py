"""Importing, module attributes, and modules that change while hot code uses them."""

import math
import sys
import types

mod = types.ModuleType("mod")
mod.factor = 2
mod.f = lambda x: x + 1
sys.modules["made_up"] = mod


def uses(n):
    s = 0
    for i in range(n):
        s += mod.factor + mod.f(i)
        if i == 350:
            mod.factor = 0.5
        if i == 370:
            mod.f = lambda x: -x
    return s


def imports(n):
    s = 0
    for i in range(n):
        import made_up
        from made_up import factor as k
        s += k + made_up.factor
    return s


def maths(n):
    s = 0.0
    for i in range(n):
        s += math.sqrt(i) + math.floor(i / 3) + math.pi
    return round(s, 9)


def domain(n):
    s = 0
    for i in range(n):
        s += math.sqrt(n - 5 - i)
    return s


def patched(n):
    s = 0
    real = math.floor
    try:
        for i in range(n):
            s += math.floor(i + 0.5)
            if i == 380:
                math.floor = lambda x: 1000
    finally:
        math.floor = real
    return s


def missing(n):
    for i in range(n):
        if i == n - 1:
            mod.not_there
        mod.factor


def late_import(n):
    for i in range(n):
        if i == n - 1:
            from made_up import nothing
    return i


class Lazy(types.ModuleType):
    def __getattr__(self, name):
        if name == "boom":
            raise AttributeError("no boom")
        return len(name)


lazy = Lazy("lazy")


def lazies(n):
    s = 0
    for i in range(n):
        s += lazy.hello
        if i == 380:
            lazy.hello = 100
    return s


print(uses(400), imports(300), maths(400), patched(400), lazies(400), math.floor(2.5))
for f, kinds in [(domain, ValueError), (missing, AttributeError), (late_import, ImportError)]:
    try:
        f(400)
    except kinds as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
try:
    lazy.boom
except AttributeError as error:
    print(error)
