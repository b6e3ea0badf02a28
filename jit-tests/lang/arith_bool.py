"""Bools as numbers: sums of comparisons, bools and ints, floats and bools, operators of two bools, and
classes of ints that are no bools."""


def count(values, limit):
    hits = 0
    for value in values:
        hits += value > limit
    return hits


def mixed(n):
    total = 0
    for i in range(n):
        total += (i > 3) + i
        total -= (i & 1 == 0) * 3
        total ^= (i > 5) << 2
    return total


def of_two(a, b):
    return a & b, a | b, a ^ b, a + b, a - b, a * b, a == b, a < b, a >= b


def with_zero(a, b):
    try:
        return a // b, a % b, a / b
    except ZeroDivisionError as error:
        return str(error)


def floats(n):
    total = 0.5
    for i in range(n):
        total += (i > 2)
        total *= True
    return total


class Small(int):
    def __add__(self, other):
        return "small"

    __radd__ = __and__ = __rand__ = __add__


def each(values):
    return [of_two(a, b) for a in values for b in values]


class Pair:
    def __init__(self, left, tag):
        self.left = left
        self.tag = tag

    def __eq__(self, other):
        return self.left == other.left and self.tag == other.tag


def pairs(n):
    """Instances with constant strings, of which the function's local is the last reference."""
    total, first = 0, Pair(1, "x")
    for i in range(n):
        pair = Pair(i, "x")
        total += (pair == first) + pair.left
    return total, pair.tag, first.tag


class Other:
    def __init__(self, left):
        self.left = left

    def __eq__(self, other):
        return NotImplemented


def others(n):
    total = 0
    for i in range(n):
        one, two = Other(i), Other(i)
        total += (one == two) + (one == one)
    return total


for _ in range(30):
    count([1, 5, 7, 9], 4)
    mixed(20)
    floats(10)
    with_zero(True, True)
    pairs(30)
    others(30)
print(count(range(100), 40), count([1.5, 2.5, float("nan")], 2), mixed(50), floats(20))
for _ in range(20):
    last = each([True, False, 3, -2, 10**20])
print(last, [type(x) for x in of_two(True, False)], [type(x) for x in of_two(True, 5)])
print(with_zero(True, False), with_zero(5, True), with_zero(7, False), with_zero(True, 2))
print(True + Small(3), Small(3) + True, True & Small(3), [True][0] + 2**62 + 2**62)
try:
    count([Small(3), "a"], 1)
except TypeError as error:
    print(error)
print(pairs(40), others(20))
