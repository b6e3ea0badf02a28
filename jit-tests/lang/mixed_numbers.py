"""Attributes and locals that are now a float, now an int: arithmetic and comparisons take both as they come."""

import math


class Vector:
    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def dot(self, other):
        return (self.x * other.x) + (self.y * other.y) + (self.z * other.z)

    def scale(self, factor):
        return Vector(factor * self.x, factor * self.y, self.z / factor)

    def nearer(self, other):
        return [self.x < other.x, self.y <= other.y, self.z == other.z, self.x != other.z, self.y > other.x, self.z >= other.y]

    def __repr__(self):
        return f"<{self.x!r} {self.y!r} {self.z!r}>"


def run(vectors, others):
    found = []
    for a in vectors:
        for b in others:
            try:
                found.append((a.dot(b), a.scale(2.5), a.scale(3), a.nearer(b)))
            except Exception as error:
                found.append((type(error).__name__, str(error)))
    return found


def total(found):
    return len(found), found[:2], found[-1]


floats = [Vector(i + 0.5, -i * 1.25, 3.0) for i in range(12)]
ints = [Vector(i, 2 * i, 7) for i in range(12)]
some = [Vector(i, i * 0.5, 1) for i in range(12)]
large = [Vector(2**53 + 1, 1.5, 2), Vector(2**70, 0.5, 1), Vector(-(2**53) - 1, 2.0**53, 4)]
odd = [Vector(True, 1.5, 2), Vector("text", 0.5, 1), Vector(None, 1.0, 2), Vector(1j, 2.5, 3), Vector(math.nan, math.inf, 0)]
for left in (floats, some, ints, large, odd):
    for right in (floats, ints, some, large, odd):
        print(*total(run(left, right)))


def compare(a, b):
    return a < b, a == b, a > b


for _ in range(60):
    compare(1.5, 2.5)
for _ in range(60):
    compare(1, 2.5)
    compare(2.5, 1)
# A double can't tell these apart; Python's comparison can.
print(compare(2**53 + 1, 2.0**53), compare(2.0**53, 2**53 + 1), compare(2**53, 2.0**53), compare(10**400, 1e308))
print(compare(1, 2), compare(3, 2), compare(True, 0.5), compare(0.5, False))


def mean(numbers):
    total = 0
    for n in numbers:
        total = total + n / 2
    return total


print(mean([1.5] * 200), mean([1.5, 2, 3] * 100), mean([1, 2.5, True] * 100))


class Int(int):
    def __rmul__(self, other):
        return "rmul"


def multiply(a, b):
    return a * b


print([multiply(1.5, n) for n in [2.5, 2] * 60 + [Int(3), 4, 2.5]][-4:])


def divide(a, b):
    return a / b


for a, b in [(1.5, 2.0), (1.5, 2)] * 60 + [(1, 2), (3, 0.5), (1.5, 0), (1, 0.0), (2, 0)]:
    try:
        last = divide(a, b)
    except ZeroDivisionError as error:
        print(error, error.__traceback__.tb_next.tb_lineno)
print(last)
