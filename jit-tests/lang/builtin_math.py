"""math functions in loops: domains, overflow, ints too large, users' __float__, wrong arguments, replaced attributes of the module."""

import math
from math import floor, sqrt

from support import each, hot


class Float:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        if isinstance(self.x, Exception):
            raise self.x
        return self.x


FUNCTIONS = ("sqrt", "sin", "exp", "log", "atan", "floor", "ceil", "fabs", "isnan", "gamma", "log2", "expm1", "trunc", "degrees", "cbrt", "isfinite", "factorial", "isqrt")


def apply(name, x):
    return getattr(math, name)(x)


def known(x):
    return math.sqrt(x), sqrt(x), math.floor(x), floor(x), math.pow(x, 2), math.hypot(x, 1.0), math.copysign(1, x)


def two(x, y):
    return math.atan2(x, y), math.fmod(x, y), math.pow(x, y), math.ldexp(1.5, int(y)), math.gcd(int(x), int(y)), math.isclose(x, y), math.dist((x,), (y,))


def loop(n):
    s = 0.0
    for i in range(n):
        s += math.sin(i) * math.cos(i) + sqrt(i) - math.exp(-i)
    return round(s, 9)


def distances(points):
    best = math.inf
    for i, (x, y) in enumerate(points):
        for u, v in points[i + 1:]:
            best = min(best, math.sqrt((x - u) ** 2 + (y - v) ** 2))
    return best


def constants():
    return math.pi, math.e, math.inf, math.nan != math.nan, math.tau, math.pi is math.pi


def reductions(items):
    return math.fsum(items), math.prod(items), math.sumprod(items, items)


def replaced(n):
    global sqrt
    out = []
    real = math.sqrt
    for i in range(n):
        if i == n - 4:
            math.sqrt = lambda x: "replaced"
        if i == n - 2:
            sqrt = lambda x: "global"
        out.append((math.sqrt(4), sqrt(9)))
    math.sqrt = sqrt = real
    return out[-5:]


values = (4, 0, -1, 2.5, -0.0, 1e308, math.inf, -math.inf, math.nan, 10**400, True, Float(9.0), Float(5), Float(OSError("float")), "4", None, 1j)
for name in FUNCTIONS:
    each(lambda x: apply(name, x), *[(x,) for x in values], times=31)
each(known, (4.0,), (9,), (-1,), (2**70,), (Float(4.0),), ("x",), (math.inf,))
each(two, (1, 2), (5.5, -2), (-1.0, 0.5), (0, 0), (-8, 0.0), (1e308, 10), (math.inf, 1), ("a", 1))
each(loop, (30,), (0,))
each(distances, ([(0, 0), (3, 4), (1, 1)],), ([],), ([(0, 0), ("a", 1)],))
hot(constants)
each(reductions, ([0.1] * 10,), ([1, 2, 3],), ([],), ([1e308, 1e308],), ([1, "a"],), ([2**70, 0.5],))
print(replaced(60), replaced(60))
