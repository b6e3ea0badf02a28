"""Sums over the elements of lists and tuples."""


def total(values):
    s = 0.0
    for v in values:
        s += v
    return s


def by_index(values):
    s = 0.0
    for i in range(len(values)):
        s += values[i]
    return s


def run(n, times):
    values = [i * 0.25 for i in range(n)]
    s = 0.0
    for _ in range(times):
        s += total(values) + by_index(values)
    return s


def run_unseen(length, turns):
    """Whole numbers, in a tuple, differences of neighbours."""
    row = tuple(k * 7 % 31 for k in range(length))
    ups = downs = 0
    for _ in range(turns):
        k = 1
        while k < len(row):
            step = row[k] - row[k - 1]
            if step > 0:
                ups += step
            else:
                downs += step
            k += 1
    return ups, downs
