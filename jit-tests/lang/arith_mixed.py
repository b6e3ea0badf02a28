"""Ints, floats and bools in one expression, with the mix changing late in a loop."""


def total(values):
    s = 0
    for v in values:
        s = s + v
    return s


def scaled(values, k):
    s = 0.0
    for v in values:
        s += v * k - k / 2
    return s


def bools(n):
    s = 0
    for i in range(n):
        s += (i % 3 == 0) + (i > 5) * True
    return s, True + True, True * 2.5, -True, ~True & 0xFF, True / 2, True // True


def late_float(n):
    x = 0
    kinds = []
    for i in range(n):
        if i == n - 10:
            x = x + 0.5
        x = x + i
        if i >= n - 12:
            kinds.append(type(x).__name__)
    return x, kinds


def late_complex(n):
    x = 1
    for i in range(n):
        x = x + (1j if i == n - 2 else 1)
    return x


def exactness(big):
    """int + float converts exactly or raises, and comparison is exact."""
    out = []
    for f in (0.0, 1.0, 2.0**53, 2.0**63):
        out.append((big + f, big == f, big < f, big - f))
    return out


print(total(list(range(400))), total(list(range(400)) + [0.25]), total([True] * 300 + [1, 2.0, False]))
print(scaled(list(range(400)) + [0.5, True], 3), scaled([0.1] * 350, True))
print(bools(400))
print(late_float(400))
print(late_complex(400))
for big in (2**53 + 1, 2**63, 2**64 + 1, -(2**53) - 1):
    print(big, exactness(big))
for args in ([10**400, 1.0], [1.0, 10**400], [1.5, "x"]):
    try:
        print(total(args))
    except (OverflowError, TypeError) as error:
        print(type(error).__name__, error)
