"""Slices assigned and augmented: lists, bytearrays, memoryviews; growing, shrinking, themselves, generators, extended slices, every error."""

from support import each, hot


def assign(kind, a, b, value):
    s = kind(range(6))
    s[a:b] = value
    return s


def extended(kind, a, b, c, value):
    s = kind(range(6))
    s[a:b:c] = value
    return s


def own(n):
    s = list(range(n))
    s[2:3] = s
    s[:0] = s[-2:]
    s[::2] = s[1::2] + [0] * (len(s[::2]) - len(s[1::2]))
    return s


def augmented(n):
    s = [1, 2, 3, 4]
    s[1:3] += [n]
    s[:1] *= 3
    s[-1:] += (n, n)
    return s


def generated(n, error):
    def values():
        for i in range(n):
            yield i
        if error:
            raise error
    s = [9, 8, 7]
    try:
        s[1:2] = values()
    except KeyError as e:
        return s, repr(e)
    return s


def view(value):
    data = bytearray(b"abcdef")
    m = memoryview(data)
    m[1:3] = value
    return data


def kept_alive(n):
    data = bytearray(b"abcdef")
    m = memoryview(data)
    try:
        data[1:2] = b"longer"
    except BufferError as error:
        return str(error), data
    finally:
        m.release()


values = ([], [10], (10, 11, 12), range(100, 109), "", b"xyz", {7: 8}, 5, None, iter([1, 2]))
each(assign, *[(list, a, b, v) for a, b in ((1, 3), (0, 0), (4, 2), (-2, None)) for v in values], times=35)
each(assign, *[(bytearray, 1, 3, v) for v in (*values, bytearray(b"q"), memoryview(b"mn"), [256], ["a"], [1.5])], times=35)
each(extended, *[(k, a, b, c, v) for k in (list, bytearray) for a, b, c in ((None, None, 2), (4, 0, -2), (5, 5, 3)) for v in ([1, 2, 3], b"xy", [], 7)], times=35)
each(extended, (list, 0, 4, 0, [1]), (list, "a", 4, 1, [1]), (tuple, 0, 1, 1, ()), (lambda r: "text", 0, 1, None, "z"), (lambda r: r, 0, 2, 1, []))
hot(own, 6)
hot(augmented, 5)
each(generated, (3, None), (2, KeyError(1)), (0, None), (1, OSError("x")))
each(view, (b"xy",), (b"x",), (b"xyz",), (5,), ("xy",), (memoryview(b"pq"),))
hot(kept_alive, 1)
