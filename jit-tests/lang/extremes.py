"""min and max of two, abs, float and int: of ints, floats, bools, what compares in its own way, and what turns up late."""

import math


def least(a, b):
    return min(a, b)


def clamp(values, low, high):
    out = []
    for v in values:
        out.append(max(low, min(v, high)))
    return out


def of_ranges(n):
    total = 0
    for i in range(n):
        total += min(i, 50) + max(i, 3) * abs(i - 50) - abs(-i)
    return total


def of_floats(values):
    low, high = math.inf, -math.inf
    for v in values:
        low = min(low, v)
        high = max(high, v * 1.0)
    return low, high


def first_of_equals(a, b):
    return min(a, b) is a, max(a, b) is a


def signs(n):
    out = []
    for i in range(n):
        x = (i % 3 - 1) * 0.0
        out.append((math.copysign(1, min(0.0, x)), math.copysign(1, max(-0.0, x)), math.copysign(1, min(x, 1.0)), math.copysign(1, abs(x))))
    return sorted(set(out))


def nans(n):
    nan, out = math.nan, []
    for i in range(n):
        x = nan if i % 2 else float(i)
        out += [repr(min(x, 3.0)), repr(min(3.0, x)), repr(max(x, 3.0)), repr(max(3.0, x))]
    return out[-8:]


def converted(n):
    total = 0.0
    for i in range(n):
        k = i * 90071992547409931
        total += float(k) + float(i) + int(float(i))
    return total


class Odd:
    def __lt__(self, other):
        return "yes"

    def __gt__(self, other):
        return []

    def __abs__(self):
        return "abs"


class Int(int):
    def __lt__(self, other):
        return int(other) < int(self)

    def __abs__(self):
        return "own"


def attempt(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, str(error)


for lap in range(60):
    result = least(lap, 30), least(lap * 1.0, 30.0), clamp(range(lap), 5, 20), of_ranges(200)
print(result)
print(of_floats([1.5, -2.0, 3.25, 1e300, -1e-300] * 40), of_floats([1, 2.5, True] * 40), signs(300), nans(300), converted(300))
for a, b in [(1, 1.0), (1.0, 1), (True, 1), (1, True), (0.0, -0.0), (10**30, 10**30 + 0), (2**62, -(2**62)), (2**63, 5), (math.nan, 1), (1, math.nan)]:
    print(repr(least(a, b)), repr(attempt(max, a, b)), first_of_equals(a, b), clamp([a, b], 0, 9), [repr(attempt(abs, x)) for x in (a, b)])
print(attempt(least, 1, "a"), attempt(least, None, 1), attempt(least, Int(3), 5), attempt(least, Int(9), 5), type(attempt(least, Odd(), 1)).__name__)
print(attempt(clamp, [1, 2, "x"], 0, 9), attempt(clamp, [2**70, -(2**70), 2**60, True, 2.5, Int(4)], 0, 9), attempt(clamp, [1.5, 2, 99], 0.5, 9.5))


def absolute(values):
    return [abs(v + 0) for v in values]


for _ in range(60):
    absolute([1, -2, 3])
print(absolute([-(2**30), 2**59, -(2**60), -(2**61), -(2**62), -(2**63), -(2**64), -2.5, True, False, -0.0]), attempt(absolute, [None]))

min = lambda a, b: ("mine", a, b)
print(least(1, 2), attempt(clamp, [5], 0, 9))
