"""Functions of numbers that are computed without a call: raw operands and results in loops, operands outside their domains, ints of any size, classes with methods of their own, replaced names."""

import math

from support import each, hot


class Number(float):
    def __floor__(self):
        return "floor"

    def __ceil__(self):
        return "ceil"

    def __round__(self, digits=None):
        return "round", digits

    def __float__(self):
        return 0.25


class Int(int):
    def __floor__(self):
        return "int floor"

    def __round__(self):
        return "int round"


class Ends:
    def __init__(self, log):
        self.log = log

    def __float__(self):
        return 2.0

    def __del__(self):
        self.log.append("ended")


SINGLE = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "degrees", "exp", "exp2", "expm1", "fabs", "floor", "isfinite", "isinf", "isnan", "isqrt", "log", "log10", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh")
DOUBLE = ("atan2", "copysign", "fmod", "gcd", "pow")
VALUES = (0.5, 0.0, -0.0, 1, -1, 2.5, -2.5, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan, 2**53, 2**53 + 1, 2**62, 2**70, -(2**70), 10**400, True, Number(1.5), Int(7), "a", None, 1j)


def single(name):
    space = {"math": math}
    exec(f"def {name}(x):\n    return math.{name}(x)\n", space)
    return space[name]


def double(name):
    space = {"math": math}
    exec(f"def {name}(x, y):\n    return math.{name}(x, y)\n", space)
    return space[name]


def rounding(x):
    return round(x), math.floor(x), math.ceil(x)


def digits(x, n):
    return round(x, n)


def nothing(x):
    return round(x, None)


def sums(n):
    total = 0.0
    for i in range(n):
        x = i * 0.37 - 3
        total += math.sin(x) * math.cos(x) + math.exp(-x) + abs(math.atan2(x, i + 1)) - math.fabs(math.tanh(x)) + math.radians(x)
        total += round(x) + math.floor(x) * 2 - math.ceil(x) + math.copysign(1, -x) + math.fmod(x, 3) + math.pow(1.01, i)
        if math.isnan(total) or math.isinf(total) or not math.isfinite(total):
            return "lost"
    return total


def halves(n):
    out = []
    for i in range(-n, n):
        out.append((round(i / 2), round(i / 2 + 1e-9), round(-0.5), round(0.49999999999999994), round(2.0**52 + i + 0.5)))
    return out


def signs():
    return [math.copysign(1, x) for x in (math.sin(-0.0), math.tan(-0.0), math.fabs(-0.0), math.radians(-0.0), math.atan2(-0.0, 1), math.fmod(-4.0, 2), math.cbrt(-0.0))]


def edge(n):
    total = 0
    for i in range(n):
        total += math.floor(2.0**61 + i) - math.ceil(2.0**61 - i * 1000) + round(-(2.0**61) - i * 512.0)
    return total


def beyond(n):
    total = 0
    for i in range(n):
        total += math.floor(2.0**62 * (i + 1)) + math.ceil(-(2.0**65)) + round(1e300)
    return total


def fails_late(n):
    out = []
    for i in range(n):
        try:
            out.append(math.log(n - 3 - i))
        except ValueError as error:
            out.append((i, str(error)))
    return out[-4:]


def overflows(n):
    x = 1.0
    for i in range(n):
        x = math.exp(x)
    return x


def mixed(items):
    out = []
    for x in items:
        out.append((math.sin(x), math.floor(x), round(x)))
    return out


def divisors(n):
    total = 0
    for i in range(n):
        total += math.gcd(i * 12, 18) + math.isqrt(i * i + i) + math.gcd(-i, 0)
    return total


def big_divisors():
    return math.gcd(-(2**63), 0), math.gcd(2**70, 2**65), math.gcd(-(2**59), 2**58), math.isqrt(2**59 + 1), math.isqrt(2**80)


def replaced(n):
    real, out = math.sin, []
    for i in range(n):
        if i == n - 4:
            math.sin = lambda x: ("own", x)
        if i == n - 2:
            math.sin = real
        out.append(math.sin(1.0))
    math.sin = real
    return out[-5:]


def shadowed(n):
    global round
    out = []
    for i in range(n):
        if i == n - 3:
            round = lambda x: ("own", x)
        out.append(round(2.5))
    del round
    return out[-5:]


def wrong():
    out = []
    for call in (lambda: math.sin(), lambda: math.sin(1, 2), lambda: math.floor(), lambda: round(), lambda: math.atan2(1.0), lambda: math.sin(x=1)):
        try:
            call()
        except TypeError as error:
            out.append(str(error))
    return out


def ended(n):
    log = []
    total = 0.0
    for i in range(n):
        total += math.sin(Ends(log)) + len(log)
    return total


for name in SINGLE:
    each(single(name), *[(x,) for x in VALUES], times=41)
for name in DOUBLE:
    each(double(name), *[(x, y) for x in VALUES[::2] for y in VALUES[1::3]], times=31)
each(rounding, *[(x,) for x in VALUES])
each(digits, (2.675, 2), (1234.5, -2), (5, 1), (5, None), (2.5, None), (math.nan, 1), (1.5, "a"), (1e300, 400), (-0.04, 1))
each(nothing, (2.5,), (7,), (math.inf,), (Number(1.5),))
each(sums, (50,), (0,), (3,))
each(halves, (5,))
hot(signs)
each(edge, (40,))
each(beyond, (40,))
each(fails_late, (60,))
each(overflows, (2,), (3,), (60,))
each(mixed, ([0.5, 1, True, 2.5],), ([1.0] * 50 + [Number(2.0), Int(3)],), ([1, 2, "a"],), ([0.1] * 40 + [10**400],))
each(divisors, (60,))
hot(big_divisors)
print(replaced(60), replaced(60), shadowed(60))
hot(wrong)
each(ended, (40,))
