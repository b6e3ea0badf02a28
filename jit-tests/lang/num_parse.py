"""int(), float() and complex() of text and bytes: bases, underscores, spaces, signs, other digits, limits; int methods to and from bytes."""

import sys

from support import each


def whole(*args):
    return int(*args)


def real(x):
    return float(x)


def imaginary(*args):
    return complex(*args)


def text(n):
    return str(n), repr(n), hex(n), oct(n), bin(n), f"{n:,}", int(str(n)) == n, int(hex(n), 16) == n, n.bit_length(), n.bit_count()


def packed(n, length, order, signed):
    b = n.to_bytes(length, order, signed=signed)
    return b, int.from_bytes(b, order, signed=signed) == n


def attributes(n):
    return n.numerator, n.denominator, n.real, n.imag, n.conjugate(), n.as_integer_ratio(), n.is_integer(), n.__index__(), n.__bool__()


def digits(n):
    out = []
    while n:
        n, d = divmod(n, 10)
        out.append(d)
    return out[::-1]


def huge(n):
    return str(10**n)[:3]


each(whole, ("12",), (" -7\n",), ("0x1f", 16), ("1f", 16), ("0b101", 0), ("0o17", 0), ("012", 0), ("1_000",), ("1__0",), ("_1",), ("",), ("-",), ("z", 36), ("z", 35), ("1", 1), ("1", 37), ("1", "x"), (b"42",),
     (bytearray(b"7"),), ("٣٤",), ("1e5",), ("1.0",), (3.99,), (-3.99,), (float("nan"),), (float("inf"),), (1, 10), (), ("9" * 25,), ("1\0",), (None,), (True,), ("+5",), ("0" * 30 + "8",), times=32)
each(real, ("1.5",), (" -2e3 ",), ("inf",), ("-Infinity",), ("nan",), ("1_0.5",), ("1._5",), ("",), ("x",), (".5",), ("5.",), (".",), ("1e400",), ("-1e-400",), ("0x1p3",), (b"2.5",), ("٣.٥",), (2**1100,), (2**70,), (None,), (1j,), times=32)
each(imaginary, ("1+2j",), ("j",), (" (3-1j) ",), ("1 + 2j",), ("",), (1, 2), (1j, 1j), ("1", 2), (1.5,), ([],), ("nan+infj",), times=32)
each(text, (0,), (-255,), (2**63,), (True,), (10**20,))
each(packed, (255, 1, "big", False), (256, 1, "big", False), (-1, 2, "little", True), (-1, 2, "little", False), (2**64, 9, "big", False), (0, 0, "big", False), (1, 2, "middle", True), (128, 1, "big", True), (-128, 1, "big", True), (1, -1, "big", True))
each(attributes, (5,), (-2**70,), (True,))
each(digits, (1234567890,), (2**70,), (0,))
each(huge, (5,), (4000,), (5000,), times=32)
print(sys.get_int_max_str_digits(), sys.int_info.bits_per_digit)
