"""Complex numbers and booleans in arithmetic, comparisons, indexes and as keys; mixed with ints and floats in loops whose types change."""

import cmath

from support import each, hot


def operations(a, b):
    return a + b, a - b, a * b, a == b, a != b, -a, +b, bool(a)


def dividing(a, b):
    return a / b


def powers(a, b):
    return a ** b


def wrong(a, b, how):
    if how == 0:
        return a < b
    if how == 1:
        return a // b
    if how == 2:
        return a % b
    if how == 3:
        return int(a)
    if how == 4:
        return float(a)
    if how == 5:
        return round(a)
    return divmod(a, b)


def parts(z):
    return z.real, z.imag, z.conjugate(), abs(z), repr(z), hash(z) == hash(complex(z)), f"{z:.2f}"


def julia(n):
    c, counts = -0.4 + 0.6j, []
    for y in range(n):
        z, k = complex(y / n, 0.1), 0
        while abs(z) < 2 and k < 20:
            z = z * z + c
            k += 1
        counts.append(k)
    return counts


def booleans(a, b):
    return a + b, a * 3, a & b, a | b, a ^ b, ~5 if a else b, a < b, -a, a == 1, [10, 20][a], {a: 1, 1: 2}, a is True, int(a), sum([a, b, a]), a ** b, a / True, "x" * a


def mixing(n):
    s = False
    out = []
    for i in range(n):
        if i == n - 4:
            s += 0.5
        elif i == n - 2:
            s += 1j
        else:
            s += i % 3 == 0
        out.append(s)
    return out[-6:]


each(operations, (1 + 2j, 3 - 1j), (1j, 2), (2.5, 1j), (0j, -0.0), (complex("nan"), 1j), (1j, True), (1j, "x"), (2**70, 1j))
each(dividing, (1 + 2j, 1j), (1j, 0), (1, 2j), (1e308 + 1e308j, 1e-308), (0j, 2.0))
each(powers, (1j, 2), (2 + 0j, -1), (0j, 0), (0j, -1), (1j, 0.5), (2, 1j), (1e200j, 2))
each(wrong, *[(1j, 2, how) for how in range(7)])
each(parts, (3 + 4j,), (-0j,), (complex("inf"),), (1.5j,))
hot(julia, 12)
each(booleans, (True, False), (False, False), (True, True))
hot(mixing, 60, times=5)
hot(lambda: (cmath.sqrt(-1), cmath.phase(-1), abs(cmath.exp(1j * cmath.pi) + 1) < 1e-9))
