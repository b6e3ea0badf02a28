"""Assignment to every kind of target: attributes, items, slices, nested lists, stars in each place, the order of stores, wrong lengths."""

from support import each, hot

log = []


class Target:
    def __setattr__(self, name, value):
        log.append((name, value))
        if name == "bad":
            raise AttributeError("bad")
        object.__setattr__(self, name, value)

    def __setitem__(self, key, value):
        log.append((key, value))


def targets(items):
    t = Target()
    log.clear()
    t.a, t["k"], [t.b, *t.c] = items
    return list(log), t.__dict__


def raising(items):
    t = Target()
    log.clear()
    try:
        t.a, t.bad, t.never = items
    except AttributeError:
        return list(log), t.__dict__


def chained(x):
    a = b, c = [d, *e] = x
    return a, b, c, d, e


def starred(items):
    *a, b = items
    c, *d = items
    e, *f, g = items
    return a, b, c, d, e, f, g


def nested(items):
    (a, (b, [c, *d])), e = items
    for (x, *y), z in [items]:
        pass
    return a, b, c, d, e, x, y, z


def self_reference():
    i, x = 0, [10, 20, 30]
    i, x[i] = 1, "set"
    x[0], i = i, x
    a = [0]
    a[0], *a[1:1] = 1, 2, 3
    return i, x, a


def rotated(a, b, c, n):
    for _ in range(n):
        a, b, c = b, c, a
        (a, b), c = (b, a), c
        a, b = b, a
    return a, b, c


def exact(items):
    a, b = items
    return a + b


def many(items):
    a, b, c, d, e, f, g, h, *rest = items
    return h, rest, len(rest)


each(targets, ((1, 2, [3, 4, 5]),), ((1, 2, "x"),), ((1, 2),), ((1, 2, 5),), ((1, 2, []),))
hot(raising, (1, 2, 3))
each(chained, ((1, 2),), ("ab",), ([1, 2, 3],), (range(2),), (5,))
each(starred, ([1, 2],), ("abcd",), ([1],), ((),), ({1: 2, 3: 4},), (iter([1, 2, 3]),))
each(nested, (((1, (2, [3])), 4),), (((1, (2, "xyz")), 4),), (((1, 2), 3),), ((1, 2),))
hot(self_reference)
each(rotated, (1, 2, 3, 5), (1.5, "b", None, 4))
each(exact, ((1, 2),), ([1.5, 2],), ("ab",), ({1, 2},), (zip((1,), (2,)),), ((x for x in (1, 2)),), ((1, 2, 3),), ((1,),), (iter("abc"),), ({"a": 1},), (None,))
each(many, (range(8),), (range(12),), (range(7),), ("abcdefghij",))
