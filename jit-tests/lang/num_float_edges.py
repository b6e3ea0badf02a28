"""Floats: nan, infinities, signed zeros, subnormals, overflow, division and modulo by signs, mixing with large ints, rounding, methods."""

import math

from support import each

inf, nan = float("inf"), float("nan")
EDGES = [0.0, -0.0, 1.0, -1.5, 0.1, 1e308, -1e308, 5e-324, 2.0**53, 2.0**63, inf, -inf, nan]


def arithmetic(a, b):
    return a + b, a - b, a * b, -a, abs(b)


def division(a, b):
    return a / b, a // b, a % b, divmod(a, b)


def compared(a, b):
    return a < b, a == b, a != b, a >= b, min(a, b), max(a, b), a is a, [a] == [a], a in (b,)


def mixed(f, i):
    return f == i, f < i, f > i, i == f, i <= f, f + i if abs(i) < 2**1000 else None, i * f if abs(i) < 2**1000 else None


def powers(a, b):
    return a ** b


def methods(x):
    return x.is_integer(), x.hex(), repr(x), str(x), bool(x), hash(x) if x == x else "nan", x.conjugate(), x.real, x.imag


def ratios(x):
    return x.as_integer_ratio(), int(x), round(x), math.floor(x)


def rounded(x, n):
    return round(x, n)


def digest(function):
    out = []
    for a in EDGES:
        for b in EDGES:
            try:
                out.append(repr(function(a, b)))
            except (ZeroDivisionError, OverflowError, ValueError) as error:
                out.append(str(error))
    n = 7
    for c in "".join(out):
        n = (n * 31 + ord(c)) % 1000003
    return n, out[5], out[-1]


def sums(n, start):
    s = start
    for i in range(n):
        s += i * 0.1
        s *= 1.0000001
    return s, s == s


for function in (arithmetic, division, compared):
    print(function.__name__, *(digest(function) for _ in range(3)))
each(division, (1.0, 0.0), (-7.5, 2.0), (7.5, -2.0), (-0.0, 3.0), (inf, 2.0), (3.0, inf), (-3.0, inf), (5e-324, 2.0), (1, 2.5), (2**70, 0.5))
each(mixed, (2.0**53, 2**53 + 1), (1e300, 10**300), (inf, 2**2000), (nan, 0), (-0.0, 0), (0.5, 1), (2.0**63, 2**63), (2.0**63, 2**63 - 1), (1.0, True))
each(powers, (2.0, 0.5), (-8.0, 1 / 3), (0.0, -1.0), (nan, 0.0), (1.0, nan), (inf, -1.0), (10.0, 400.0), (-2.0, 3.0), (2.0, -1074.0), (-1.0, inf))
each(methods, *[(x,) for x in EDGES])
each(ratios, (0.5,), (-2.75,), (1e20,), (inf,), (nan,), (-0.0,))
each(rounded, (2.675, 2), (0.5, None), (1.5, None), (-2.5, 0), (1234.5, -2), (1e22, -22), (nan, 1), (inf, None), (1.5, 400), (1.5, "x"), (5e-324, 3))
each(sums, (100, 0.0), (50, inf), (50, nan), (10, 1), (10, 2**60), (0, -0.0))
