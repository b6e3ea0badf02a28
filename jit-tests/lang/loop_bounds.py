"""Loops that count up to a limit and look into lists at their counters: inside, at the ends, outside, and where the lists change."""

import signal


def total(row, n):
    s = 0
    for k in range(n):
        s += row[k]
    return s


def dot(a, b, n):
    s = 0.0
    for k in range(n):
        s += a[k] * b[k]
    return s


def fill(out, first, n, value):
    """What was stored before the error stays."""
    for k in range(first, n):
        out[k] = value
    return out


def neighbours(a, out, first, n):
    for k in range(first, n):
        out[k] = a[k - 1] + 10 * a[k + 1]
    return out


def until(row, n, wanted):
    """The limit is beyond the end, and no turn gets there."""
    for k in range(n):
        if row[k] == wanted:
            return k
    return None


def counted(row, k, n):
    s = 0
    while k < n:
        s += row[k]
        k += 1
    return s, k


def by_two(row, n):
    s = 0
    for k in range(0, n, 2):
        s += row[k] + row[k + 1]
    return s


def of_length(row):
    s = 0
    for k in range(len(row)):
        s += row[k]
    for k in range(len(row) - 1):
        s += row[k] * row[k + 1]
    return s


def inner(table, n, m):
    s = 0
    for i in range(n):
        row = table[i]
        for j in range(m):
            s += row[j]
    return s


def tried(function, *args):
    try:
        return function(*args)
    except (IndexError, TypeError) as error:
        last = error.__traceback__
        while last.tb_next:
            last = last.tb_next
        seen = {k: v for k, v in last.tb_frame.f_locals.items() if k in ("k", "s", "i", "j")}
        return type(error).__name__, str(error), seen, last.tb_lineno - function.__code__.co_firstlineno


FOREVER = 10**15


def summed(row, n):
    s = 0.0
    for _ in range(FOREVER):
        for k in range(n):
            s += row[k]
    return s


def copied(row, out, n):
    for _ in range(FOREVER):
        for k in range(1, n):
            out[k] = row[k - 1]


def shortened(function, n, *lists):
    """A signal's handler takes from a list while a loop uses it."""
    code = function.__code__
    waits = [lambda: lists[-1].extend([0.5] * n), lambda: None, lambda: lists[-1].__delitem__(slice(n // 20, None))]

    def handler(number, frame):
        # Not while something else runs, or is compiled.
        if frame.f_code is code:
            waits.pop(0)()
        if waits:
            signal.setitimer(signal.ITIMER_REAL, 0.004)

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.004)
    try:
        function(*lists, n)
    except IndexError as error:
        return str(error), len(waits), [len(a) for a in lists]


for size in (40, 5, 0):
    row = list(range(size))
    for n in (size, size - 1, size + 1, 0, -3, size + 50):
        for _ in range(12):
            a = tried(total, row, n), tried(dot, [float(x) for x in row], row, n)
            b = tried(fill, list(row), 0, n, -1), tried(fill, list(row), -2, n, -1), tried(fill, list(row), 3, n, -1)
            c = tried(neighbours, row, [0] * size, 1, n), tried(neighbours, row, [0] * size, 0, n)
            d = tried(until, row, n, 4), tried(until, row, 10**9, 2), tried(until, row, 2**70, 1)
            e = tried(counted, row, 0, n), tried(counted, row, -4, n), tried(counted, row, 2, n)
            f = tried(by_two, row, n), tried(inner, [row] * 6, 6, n), tried(inner, [row] * 3, 4, n)
        print(size, n, a, b, c, d, e, f, sep="\n  ")
    print(tried(of_length, row))

for _ in range(30):
    last = tried(total, tuple(range(30)), 30), tried(total, "abc", 3), tried(total, [1, 2.5, True] * 4, 12)
print(last)

for _ in range(3):
    print(shortened(summed, 200_000, [1.5] * 200_000))
    print(shortened(copied, 100_000, [1.5] * 100_000, [0.0] * 100_000))
    print(shortened(copied, 1000, [1.5] * 1000, [0.0] * 1000))
