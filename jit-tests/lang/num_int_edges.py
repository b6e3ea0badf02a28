"""Ints around the borders of machine words and digits: each operator, both ways, with what follows it; division's signs; shifts; powers."""

from support import each, hot

EDGES = [0, 1, -1, 2, 3, -7, 2**15, 2**30 - 1, 2**30, -2**30, 2**31 - 1, -2**31, 2**32, 2**53 + 1, 2**60 - 1, 2**60, 2**62, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64, 10**30]


def arithmetic(a, b):
    return a + b, a - b, a * b, b - a, a * a - b


def division(a, b):
    return a // b, a % b, divmod(a, b), (a // b) * b + a % b == a, a / b


def bits(a, b):
    return a & b, a | b, a ^ b, ~a, -a, abs(a), +b


def shifts(a, n):
    return a << n, a >> n, (a << n) >> n == a


def powers(a, n):
    return a ** n


def compared(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b, (a > b) - (a < b), min(a, b), max(a, b)


def three_powers(a, b, c):
    return pow(a, b, c)


def digest(function, pairs):
    total = 0
    for a, b in pairs:
        try:
            for x in function(a, b):
                total = (total * 1000003 + (hash(x) & 0xFFFFFFFF)) % (2**61 - 1)
        except ZeroDivisionError as error:
            total = total * 3 + len(str(error))
    return total


def accumulated(start, step, n):
    out = []
    x = start
    for i in range(n):
        x += step
        if i % 16 == 15:
            out.append(x)
            x *= -3
    return out


pairs = [(a, b) for a in EDGES for b in EDGES]
for function in (arithmetic, division, bits, compared):
    print(function.__name__, digest(function, pairs), digest(function, reversed(pairs)))
each(arithmetic, (2**63 - 1, 1), (-2**63, -1), (2**62, 2**62), (3, -4), (True, 2**63))
each(division, (-7, 2), (7, -2), (-2**63, -1), (2**63, 10), (1, 0), (2**70, 0), (0, -3), (-2**63, 2**63 - 1), (2**1100, 3))
each(shifts, (1, 62), (1, 63), (1, 64), (-1, 63), (5, 0), (-5, 200), (2**63, 1), (1, -1), (0, 10**6), (3, 2**70), (0, 2**70), (1, 1.5))
each(powers, (2, 62), (2, 63), (-2, 63), (3, 40), (0, 0), (2, -1), (0, -1), (10, 20), (-1, 2**70), (1.5, 2), (-8, 0.5), (7, True))
each(three_powers, (2, 100, 7), (2, -1, 7), (2, -1, 4), (3, 5, 0), (2, 5, -3), (2**70, 2**65, 97), (2, 1.0, 3))
each(accumulated, (2**63 - 20, 1, 64), (-2**63 + 3, -1, 48), (0, 2**58, 80), (2**30 - 5, 1, 32))
hot(lambda: sum(i * i * i * i * i for i in range(8000)) % 10**9, times=3)
