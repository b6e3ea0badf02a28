"""sys.getrefcount of marked objects around and during hot code: nothing leaks, nothing is released early."""

import sys


class Thing:
    def __init__(self, v):
        self.v = v


# The builtin itself: a Python function around it would add the reference that a call from the interpreter into compiled
# code keeps (see docs/cpython.md).
rc = sys.getrefcount


def passes(o, n):
    seen = set()
    for i in range(n):
        x = o
        y = x
        seen.add(rc(o))
    return sorted(seen)


def counts_inside(o, n):
    counts = []
    for i in range(n):
        t = (o, i)
        l = [o, o]
        counts.append(rc(o))
        del l
    return counts[0], counts[-1], len(set(counts))


def attributes(o, n):
    h = Thing(o)
    for i in range(n):
        h.v = o
        z = h.v
    return rc(o)


def containers(o, n):
    items = [None] * 4
    d = {}
    for i in range(n):
        items[i % 4] = o
        d[i % 3] = o
    return rc(o)


def ident(x):
    return x


def calls(o, n):
    for i in range(n):
        ident(o)
        ident(x=o)
        ident(ident(o))
    return rc(o)


def raises(o, n):
    for i in range(n):
        try:
            if i % 2:
                raise ValueError(o)
            [o][5]
        except (ValueError, IndexError):
            pass
    return rc(o)


def unpacks(o, n):
    a, b = o, 1
    for i in range(n):
        a, b = b, a
        c, *d = o, a, b
    return rc(o)




def early_return(o, n):
    for i in range(n):
        held = (o, [o])
        if i == n - 1:
            return rc(o)


def unfinished(o, n):
    for i in range(n):
        pair = (o, o)
        if i == n - 1:
            o + 1


o = Thing(1)
before = rc(o)
for f in (passes, counts_inside, attributes, containers, calls, raises, unpacks, early_return):
    print(f.__name__, f(o, 400), rc(o) - before)
for _ in range(5):
    try:
        unfinished(o, 350)
    except TypeError as error:
        print(error, rc(o) - before)
print(rc(o) - before)
none, small = rc(None), rc(7)
passes(None, 400)
attributes(7, 400)
print(rc(None) - none, rc(7) - small)
gl = [Thing(i) for i in range(10)]


def walk(n):
    s = 0
    for i in range(n):
        for t in gl:
            s += t.v
    return s


print(walk(100), [rc(t) for t in gl] == [rc(gl[0])] * 10)
