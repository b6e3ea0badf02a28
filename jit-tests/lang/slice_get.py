"""Slices read from every builtin sequence: steps, negative, out of range, None, ints from __index__, results' types and identity."""

from support import each, hot

SEQUENCES = [list(range(7)), tuple("abcdefg"), "abcdefg", "äβ𝄞cdef", b"abcdefg", bytearray(b"abcdefg"), range(10, 80, 10), memoryview(b"abcdefg")]


class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


def two(s, a, b):
    return s[a:b]


def three(s, a, b, c):
    return s[a:b:c]


def forms(s):
    return s[:], s[1:], s[:3], s[-2:], s[:-2], s[::2], s[::-1], s[5:1:-2], s[3:3], s[100:], s[:-100]


def shown(x):
    return bytes(x) if isinstance(x, memoryview) else x


def read(s, *bounds):
    return shown(two(s, *bounds) if len(bounds) == 2 else three(s, *bounds))


def all_forms(s):
    return [shown(x) for x in forms(s)]


def same(s):
    return s[:] is s, s[0:len(s)] is s, s[::1] is s


def strung(s, n):
    out = []
    for i in range(n):
        out.append(s[i:i + 2])
        out.append(s[-i:])
    return out


for s in SEQUENCES:
    hot(all_forms, s, times=50)
each(read, *[(s, a, b) for s in SEQUENCES[:3] for a, b in ((1, 3), (-3, None), (None, None), (5, 2), (2**70, -2**70), (Index(1), Index(-1)))], times=35)
each(read, *[(s, *abc) for s in SEQUENCES[2:7] for abc in ((6, None, -1), (None, None, 3), (1, 6, 2), (2**65, None, -2**65), (0, 5, True))], times=35)
each(read, *[(s, *bad) for s in (SEQUENCES[0], SEQUENCES[2], SEQUENCES[6]) for bad in ((1, 2, 0), (1.0, 2), ("a", "b"), (None, "b"), (1, 2, 1.5))], times=35)
each(read, ({1: 2}, 1, 2), (5, 1, 2), (None, 0, 1), ({1}, 0, 1), (iter([1]), 0, 1), times=35)
hot(lambda: [same(s) for s in ((1, 2), "text", b"bytes", [1])])
each(strung, ("hello", 6), ([1, 2, 3], 4), (b"xy", 3))
