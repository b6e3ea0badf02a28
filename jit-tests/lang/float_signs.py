"""Roots and powers of squares and their sums; what they raise, and where."""

import math
import traceback


def inverse(x, y):
    return (x * x + y * y) ** -1.5


def cubed(x, y):
    return (x * x + y * y) ** 3.0


def rooted(x, y):
    return abs(x) ** 0.5 + math.sqrt(x * x + abs(y)) + math.sqrt(y * y)


def caught(x, y):
    try:
        return (x * x + y * y) ** -1.5
    except ZeroDivisionError as e:
        return f"caught {e}"
    except OverflowError as e:
        return f"caught {e}"


def summed(values):
    total = 0.0
    for x in values:
        total += (x * x + 0.25) ** -0.5
        total += math.sqrt(x * x)
    return total


def failing(values):
    done = []
    for x in values:
        done.append(x)
        total = (
            1.0
            + (x * x) ** -2.5
        )
    return total


def other_way(x, y):
    return (x * x - y * y) ** 0.5


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def length(self):
        return (self.x * self.x + self.y * self.y) ** 0.5

    def unit(self):
        return (self.x * self.x + self.y * self.y) ** -0.5


def lengths(v):
    return v.length() + v.unit()


def shown(f, *args):
    try:
        return repr(f(*args))
    except Exception as e:
        return "".join(traceback.format_exception(e))


inf, nan = float("inf"), float("nan")
NUMBERS = [0.0, -0.0, 1.5, -2.0, 1e-200, 1e-160, 1e160, 1e300, inf, -inf, nan, 3]

for lap in range(50):
    for f in inverse, cubed, rooted, caught, other_way:
        print(f.__name__, shown(f, 2.0 + lap, 1.5))
    print(summed([0.5, lap, 2.5, -3.5]), shown(failing, [1.0, 2.0]), shown(lengths, Vector(3.0, 4.0)))
for f in inverse, cubed, rooted, caught, other_way:
    for x in NUMBERS:
        for y in NUMBERS:
            print(f.__name__, x, y, shown(f, x, y))
for x in NUMBERS:
    print(shown(summed, [1.0, x]), shown(failing, [1.0, x, 2.0]), shown(lengths, Vector(x, 0.0)))
