"""Slices deleted, with finalisers that look at the list meanwhile; del of items by index; errors and what remains."""

from support import each, hot

log = []
current = []


class Noted:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"N{self.n}"

    def __del__(self):
        log.append((self.n, len(current)))


def delete(kind, a, b, c):
    s = kind(range(8))
    del s[a:b:c]
    return s


def plain(kind, a, b):
    s = kind(range(8))
    del s[a:b]
    return s


def item(s, i):
    s = s[:]
    del s[i]
    return s


def noted(n):
    global current
    log.clear()
    current = [Noted(i) for i in range(n)]
    del current[1:3]
    middle = list(log)
    del current[::2]
    left = str(current)
    current[:] = []
    return middle, left, list(log)


def emptied(n):
    s = list(range(n))
    out = []
    while s:
        out.append(s[-1])
        del s[-1], s[:1]
    return out


def several(s, d):
    del s[0], d["k"], s[-1:], (d["l"], [s[1]])
    return s, d


for kind in (list, bytearray):
    each(plain, *[(kind, a, b) for a, b in ((None, None), (2, 4), (-3, None), (5, 2), (100, None), (0, -1))], times=35)
    each(delete, *[(kind, a, b, c) for a, b, c in ((None, None, 2), (None, None, -3), (6, 1, -2), (1, 2, 5), (3, 3, 1), (0, 1, 0), (0, "x", 1))], times=35)
each(plain, (tuple, 0, 1), (str, 0, 1), (dict.fromkeys, 0, 1), (range, 0, 1))
each(item, *[([1, 2, 3], i) for i in (0, -1, 2, 3, -4, True, "a", 1.0, None, 2**64)])
each(item, (bytearray(b"abc"), 1), (bytearray(b"abc"), 9), ((1, 2), 0), ("ab", 0))
hot(noted, 6)
each(emptied, (5,), (6,))
each(lambda: several([1, 2, 3, 4], {"k": 1, "l": 2}), ())
each(lambda: several([1, 2, 3], {"l": 2}), ())
