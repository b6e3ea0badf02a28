"""Tuples: made, compared, concatenated, hashed, unpacked, indexed with everything, nested and as keys; methods and errors; subclasses."""

from support import each, hot


class Sub(tuple):
    def __getitem__(self, i):
        return "item", i


class Noted:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        if self.n == "fail":
            raise LookupError("eq")
        return self.n == getattr(other, "n", other)

    def __hash__(self):
        return hash(self.n)

    def __repr__(self):
        return f"N({self.n})"


def index(t, i):
    return t[i]


def operations(a, b):
    return a + b, a * 2, 2 * a, len(a), a == b, a < b, hash(a) == hash(tuple(a)), a[::-1], b in a, (*a, *b), a and b, not a


def methods(t, x):
    return t.count(x), t.index(x), t.index(x, 0, 3), sorted(t, key=str), list(t), dict.fromkeys(t)


def swapping(n):
    a, b, c = 0, 1, (2, 3)
    for i in range(n):
        a, b = b, (a, i)[i % 2]
        c = c[1], c[0]
        d = (a, b, c)
        a, b, c = d
    return a, b, c


def grouping(rows):
    by = {}
    for name, kind, amount in rows:
        by[name, kind] = by.get((name, kind), 0) + amount
    return by, max(by.items(), key=lambda kv: (kv[1], kv[0]))


def returned(x):
    def several(y):
        return y, y + y, (y,)
    a, b, (c,) = several(x)
    first, *rest = several(x)
    return a is c, b, first, rest, several(x)[1], several(x)[-1][0]


def nested(n):
    t = ()
    for i in range(n):
        t = (t, i)
    depth = 0
    while t:
        t, i = t
        depth += i
    return depth


def identity(a):
    return () is (), (a,) is (a,), (a,) == (a,), tuple((1, 2)) == (1, 2), (1, 2)[:] == (1, 2), a + () if isinstance(a, tuple) else None


def deep_equal(a, b):
    return a == b, a != b, a <= b


def wrong(t):
    t[0] = 1


each(index, *[((1, "b", 2.5), i) for i in (0, -1, 2, 3, -4, True, slice(1), slice(None, None, -1), "x", 1.0, None, 2**70)], (Sub((1, 2)), 0), ((), 0))
each(operations, ((1, 2), (3,)), ((), ()), ((1, "a"), (1, "b")), ((1.0, True), (1, 1)), ((Noted(1),), (Noted(1),)), ((1,), [1]), (((1,),), ((1,), 2)))
each(methods, ((1, 2, 1), 1), ((1, 2), 3), ((1.0, True), 1), ((Noted(1), Noted("fail")), 5), ((), 1), (("a",), "a"))
each(swapping, (7,), (100,), (0,))
each(grouping, ([("a", 1, 2), ("b", 1, 3), ("a", 1, 5)],), ([("a", 1)],), ([("a", [], 1)],), ([],))
each(returned, (1,), ("s",), (2.5,), ([1],))
each(nested, (50,), (0,), (1,))
each(identity, (1,), ((1,),))
each(deep_equal, ((1, (2, [3])), (1, (2, [3]))), ((Noted("fail"),), (1,)), ((float("nan"),), (float("nan"),)), (((1, 2), 3), ((1, 2), "x")))
each(wrong, ((1,),), ([0],), ("a",))
