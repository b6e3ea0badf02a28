"""Float arithmetic: signed zeros, nan, infinities, rounding, and errors."""

import struct

INF = float("inf")
NAN = float("nan")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 2.5, -2.5, 1e-320, 5e-324, 1e308, -1e308, 1e16, 2.0**53, 2.0**63, INF, -INF, NAN]


def show(x):
    return "nan" if x != x else x.hex()


def ops(a, b):
    return a + b, a - b, a * b


def divide(a, b):
    return a / b


def floor_divide(a, b):
    return a // b


def modulo(a, b):
    return a % b


def power(a, b):
    return a ** b


def square(a):
    return a ** 2


def fourth(a):
    return a ** 4.0


def cube(a):
    return a ** 3


def inverse_square(a):
    return a ** -2


def zeroth(a):
    return a ** 0


def signs(a):
    return -a, +a, abs(a), -(-a)


def horner(n, x):
    s = 0.0
    for i in range(n):
        s = s * x + i * 0.5
    return s


def decay(n):
    x = 1.0
    for i in range(n):
        x = x * 0.5
    return x


def zero_sign(n):
    """The sign of zero survives a loop."""
    z = -0.0
    for _ in range(n):
        z = z + -0.0
        z = z * 1.0
    return struct.pack(">d", z).hex()


for a in EDGES * 3:
    for f in square, fourth, cube, inverse_square, zeroth:
        try:
            print(show(f(a)), end=" ")
        except (OverflowError, ZeroDivisionError) as error:
            print(error, end=" ")
    print()
for a in EDGES:
    for b in EDGES:
        print(*map(show, ops(a, b)), end=" ")
        for f in (divide, floor_divide, modulo):
            try:
                print(show(f(a, b)), end=" ")
            except ZeroDivisionError as error:
                print(error, end=" ")
        print()
for a in EDGES:
    print(*map(show, signs(a)))
for a, b in [(0.0, -1.0), (2.0, 0.5), (-8.0, 1 / 3), (1e200, 2.0), (NAN, 0.0), (1.0, NAN), (-0.0, 3.0)]:
    try:
        r = power(a, b)
        print(r if type(r) is complex else show(r))
    except (ZeroDivisionError, OverflowError) as error:
        print(type(error).__name__, error)
print(show(horner(500, 0.99)), show(horner(2000, 2.0)), show(decay(1200)), zero_sign(400))
try:
    divide(1.0, "x")
except TypeError as error:
    print(error)
