"""Comprehensions that raise: in the iterable, an element, a condition, a key's hash, an inner loop; locals restored, positions, partial work freed."""

from support import each, hot

freed = []


class Noted:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        freed.append(self.n)

    def __rtruediv__(self, other):
        raise LookupError(self.n)


class Hash:
    def __hash__(self):
        raise ArithmeticError("hash")


def lists(items):
    x = "kept"
    try:
        return [
            10 / x
            for x in items
            if x != 3], x
    except (ZeroDivisionError, TypeError) as error:
        return type(error).__name__, x


def bare(items):
    return [(x, 10 // y) for x in items for y in x if 1 // (y + 1) is not None]


def sets(items):
    return {x for x in items}


def dicts(items):
    return {k: 1 / v for k, v in items}


def lazily(items):
    return list(1 / x for x in items)


def objects(n):
    freed.clear()
    try:
        return [0 / x for x in [o for o in map(Noted, range(n)) if o.n > 0] if x]
    except LookupError as error:
        return error.args, list(freed)


def after(n):
    freed.clear()
    i = "outer"
    for turn in range(2):
        try:
            [Noted(i) for i in range(n) if 1 // (n - i - 1) >= 0]
        except ZeroDivisionError:
            pass
    return i, sorted(freed)


each(lists, ([1, 2, 3, 4],), ([1, 0],), (["a"],), (range(1, 3),), ((2.0, 0.0),))
each(bare, ([[1, 2], [5]],), ([[1, 0]],), ([[1], [-1]],), ([[1], 5],), (5,), ([["z"]],))
each(sets, ([1, 1.0, True],), ([1, []],), ([Hash()],), ("aba",))
each(dicts, ([(1, 2), (1, 4)],), ([(1, 0)],), ([(1,)],), ([([], 1)],), ([(1, 2, 3)],), ([5],))
each(lazily, ([1, 2],), ([0],), (3,))
each(objects, (3,), (1,))
hot(after, 4)
