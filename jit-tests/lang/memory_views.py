"""Sharing in hot loops: array and memoryview items, formats, casts, slices written through, released, compared; struct packed and unpacked."""

import array
import struct

from support import each, hot


def summed(a):
    s = 0
    for x in a:
        s += x
    for i in range(len(a)):
        s += a[i] * i
    return s


def stored(code, values):
    a = array.array(code)
    for v in values:
        a.append(v)
    for i in range(len(a)):
        a[i] = a[i] + 1
    a[0:1] = array.array(code, a[:2])
    return a, a.itemsize, a.tobytes()[:4], len(a), a.count(values[0]) if values else None


def wrong(a, i, v):
    a[i] = v
    return a[i]


def through(n):
    data = bytearray(range(n))
    m = memoryview(data)
    left, right = m[:n // 2], m[n // 2:]
    for i in range(len(left)):
        left[i], right[i] = right[i], left[i]
    m[1:3] = b"xy"
    every = m[::2]
    every[0] = 255
    return data, every.tolist(), every.contiguous, right.tobytes()


def casts(data):
    m = memoryview(data)
    out = []
    for code in "bBhHiIqQfd":
        try:
            c = m.cast(code)
            out.append((code, c[0] if c[0] == c[0] else "nan", len(c)))
        except TypeError as error:
            out.append((code, str(error)))
    return out


def packed(form, *values):
    b = struct.pack(form, *values)
    return b, struct.unpack(form, b), struct.calcsize(form)


def records(n):
    s = struct.Struct("<Hf3s")
    blob = b"".join(s.pack(i, i / 2, str(i).encode()) for i in range(n))
    total = 0
    for number, real, text in s.iter_unpack(blob):
        total += number + real + len(text.rstrip(b"\0"))
    return total, len(blob)


def compared(a, b):
    return a == b, memoryview(a) == b, a[:1] == b[:1], memoryview(a)[:2] == memoryview(b)[:2]


def two_dimensions(rows, columns):
    m = memoryview(bytes(range(rows * columns))).cast("B", (rows, columns))
    return [[m[i, j] for j in range(columns)] for i in range(rows)], m.shape, m.strides, m.tolist()[-1]


def beyond(m, *index):
    return m[index if len(index) > 1 else index[0]]


each(summed, (array.array("i", [1, 2, 3]),), (array.array("d", [0.5, 1.5]),), (memoryview(b"abc"),), (array.array("q", [2**62, 2**62]),), (array.array("i"),), (b"xyz",))
each(stored, ("i", [1, 2]), ("d", [1.5, 2]), ("B", [1, 254]), ("B", [255]), ("b", [200]), ("q", [2**63]), ("i", ["x"]), ("u", ["a"]), ("f", [0.1]), ("i", []), ("z", [1]))
each(wrong, (array.array("i", [1]), 0, 2**31), (array.array("i", [1]), 1, 0), (array.array("i", [1]), 0, 1.5), (array.array("d", [1]), 0, "x"), (array.array("d", [1]), -1, 3), (memoryview(bytearray(4)).cast("i"), 0, -5), (memoryview(bytearray(4)).cast("i"), 0, 2**40), (memoryview(b"ab"), 0, 1))
each(through, (8,), (4,))
each(casts, (b"12345678",), (b"123",), (bytearray(16),))
each(packed, ("<ihb", 1, 2, 3), (">d", 1.5), ("3s", b"abcd"), ("i", 2**40), ("i", "x"), ("ii", 1), ("<?c", True, b"x"), ("!Q", 2**64 - 1), ("zz", 1), ("f", 1e300))
hot(records, 9)
each(compared, (b"ab", bytearray(b"ab")), (array.array("b", b"ab"), b"ab"), (b"a", b"b"))
hot(two_dimensions, 2, 3)
each(beyond, (memoryview(b"abcd").cast("B", (2, 2)), 1, 1), (memoryview(b"abcd").cast("B", (2, 2)), 2, 0), (memoryview(b"abcd").cast("B", (2, 2)), 0), (memoryview(b"abcd"), 9), (memoryview(b"abcd"), "x"))
