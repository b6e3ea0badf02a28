"""Comparison operators over every pair of kinds, chained, and with operands that answer in odd ways."""

NAN = float("nan")
VALUES = [0, 1, -1, True, False, 2**30, 2**60, 2**63, 2**53 + 1, 0.0, -0.0, 1.0, 1.5, 2.0**53, 2.0**63, float("inf"), -float("inf"), NAN]


def six(a, b):
    return (a < b) * 1 + (a <= b) * 2 + (a == b) * 4 + (a != b) * 8 + (a >= b) * 16 + (a > b) * 32


def between(lo, hi, n):
    count = 0
    for i in range(n):
        if lo <= i < hi:
            count += 1
        elif not i > lo:
            count += 100
    return count


class Odd:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return ("lt", self.n, other)

    def __eq__(self, other):
        return [] if self.n else "yes"

    def __gt__(self, other):
        raise KeyError(self.n)


def smallest(values):
    best = values[0]
    for v in values:
        if v < best:
            best = v
    return best


for a in VALUES:
    print(*[six(a, b) for b in VALUES])
print(between(3, 7, 400), between(2.5, 300.5, 400), between(True, 10, 350))
print(smallest(list(range(400, 0, -1))), smallest([5.0] * 300 + [3]), smallest(["b"] * 300 + ["a"]))
print(smallest([(1, "z")] * 300 + [(1, "a")]), six("a", "b"), six((1, 2), (1, 3)), six([1], [1]))
try:
    smallest([1] * 350 + ["x"])
except TypeError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
odd = Odd(3)
print(odd < 4, 4 > odd, odd == 1, odd != 1, Odd(0) == 5, not (odd == 1))
try:
    odd > 1
except KeyError as error:
    print("KeyError", error)
for a, b in [(1, None), (1j, 2), ({}, {}), (1, "1"), (None, None)]:
    try:
        print(a < b)
    except TypeError as error:
        print(error)
print(NAN == NAN, NAN != NAN, NAN in [NAN], [NAN] == [NAN], 1 == 1.0 == True, 1 < 2 > 1 != 3)
