"""range: large bounds, negative steps, items and slices, equality, index and count, changing the variable, bad arguments, a shadowed range."""

import builtins

from support import each, hot


class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


def loop(*bounds):
    s, n = 0, 0
    for i in range(*bounds):
        s += i
        n += 1
        if n == 50:
            break
    return s, n


def last(a, b, c):
    i = "none"
    for i in range(a, b, c):
        pass
    return i


def asked(r):
    return len(r), r[0], r[-1], r[1:3], r[::-1], r.start, r.stop, r.step, r.index(r[0]), r.count(5), list(reversed(r))[:3], bool(r)


def member(r, x):
    return x in r, r.count(x), r.index(x)


def reassigned(n):
    out = []
    for i in range(n):
        out.append(i)
        i = i * 100
        out.append(i)
        n = 0
    return out, i, n


def counted_down(n):
    return [i for i in range(n, -1, -1)], [i for i in range(n, 0, -2)], [j for i in range(n) for j in range(i, n, i + 1)]


def shadowed(n):
    out = []
    for turn in range(n):
        if turn == n - 3:
            builtins.range = lambda k: [k, "shadow"]
        for i in range(2):
            out.append(i)
    return out[-8:]


each(loop, (5,), (2, 9), (9, 2, -3), (2**62, 2**63 + 3), (2**70, 2**70 + 3), (-2**63 - 1, -2**63 + 2), (0, -2**70, -2**69), (True,), (Index(4),), (0, 10**30, 10**29))
each(loop, (1.5,), ("3",), (1, 2, 0), (), (1, 2, 3, 4), (None,), (1, 2, 1.0), (Index("x"),))
each(last, (0, 10, 3), (10, 0, -4), (0, 0, 1), (5, 1, 1), (2**63 - 2, 2**63, 1))
each(asked, (range(10),), (range(5, 50, 7),), (range(9, -9, -4),), (range(2**70, 2**70 + 4),), (range(0),))
each(member, (range(10), 3), (range(0, 10, 2), 3), (range(10), 3.0), (range(10), "3"), (range(5, 0, -1), True), (range(10), 2**80))
hot(reassigned, 3)
hot(counted_down, 5)
real = range
hot(lambda: (range(0) == range(3, 3), range(1, 10, 3) == range(1, 11, 3), hash(range(3)) == hash(range(0, 3, 1)), {range(2): 1}[range(0, 2)]))
try:
    print(shadowed(60))
finally:
    builtins.range = real
print(shadowed.__name__, [i for i in range(3)])
