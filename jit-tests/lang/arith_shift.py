"""Shifts and bit operators: counts out of range, negative operands, results that leave the word."""

A = [0, 1, -1, 5, -5, 2**29, 2**30 - 1, 2**30, 2**31, 2**59, 2**60, 2**62, 2**63 - 1, 2**63, -(2**30), -(2**60), -(2**63), -(2**64)]
COUNTS = [0, 1, 2, 29, 30, 31, 32, 59, 60, 61, 62, 63, 64, 65, 100]


def left(a, n):
    return a << n


def right(a, n):
    return a >> n


def bits(a, b):
    return a & b, a | b, a ^ b, ~a


def xorshift(n):
    x = 88172645463325252
    for _ in range(n):
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
    return x


def popcount(n):
    total = 0
    for i in range(n):
        x = i
        while x:
            total += x & 1
            x >>= 1
    return total


def growing(n):
    x = 1
    for i in range(n):
        x <<= 1
        if i > 300:
            x |= 1
    return x


def late_negative(n):
    s = 0
    for i in range(n):
        s += 1 << (n - 5 - i)
        s &= 0xFFFFFFFF
    return s


for a in A:
    print(*[left(a, n) for n in COUNTS])
    print(*[right(a, n) for n in COUNTS])
    print(*[bits(a, b) for b in A[::3]])
print(xorshift(400), popcount(700), growing(320) % (10**9 + 7))
for f, a, n in [(left, 1, -1), (right, 1, -1), (left, 1.0, 2), (right, "a", 1), (left, 0, 10**30), (right, 5, 10**30), (right, -5, 10**30)]:
    try:
        print(f(a, n))
    except (ValueError, TypeError, OverflowError) as error:
        print(type(error).__name__, error)
try:
    late_negative(400)
except ValueError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
try:
    left(1, 10**30)
except (OverflowError, MemoryError) as error:
    print(type(error).__name__)
print(bits(True, False), type(True & True).__name__, type(True | 1).__name__, {1, 2} & {2, 3}, {1} | {5})
try:
    bits(1.0, 2)
except TypeError as error:
    print(error)
