"""Locals that change places: a reference goes from one slot to another. No object has one too many or too few afterwards, or ends too early."""

import sys

ended = []


class Named:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        ended.append(self.name)


def swap(a, b):
    a, b = b, a
    return a, b


def swap_in_loop(a, b, n):
    for _ in range(n):
        a, b = b, a
    return a, b


def rotate(a, b, c, n):
    for _ in range(n):
        a, b, c = b, c, a
        c, a, b = a, b, c
        a, b, c = c, a, b
    return a, b, c


def hand_on(a, b, n):
    for i in range(n):
        c = a
        a = b
        b = c
        if i == 5:
            ended.append("five")
    del c
    return a, b


def through_one(a, b):
    t = a
    a = None
    a = t
    t = b
    b = a
    a = t
    del t
    return a, b


def in_turns(t, n):
    for _ in range(n):
        a, b, c, d = t
        d, c, b, a = t
        a, b, c, d = d, c, b, a
    return a, b, c, d


def until_it_fails(a, b, n):
    """Leaves in the middle of the turns."""
    x = 0
    for i in range(n):
        a, b = b, a
        x += 1 << (i * 4)
        b, a = a, b
        a, b = b, a
    return a, b, x > 0


def replaced(a, b):
    a, b = b, a
    a = None
    ended.append("a is none")
    b = None
    ended.append("b is none")


def counts(objects):
    return [sys.getrefcount(o) for o in objects]


for f, n, more in (
    (swap, 2, ()),
    (swap_in_loop, 2, (7,)),
    (rotate, 3, (5,)),
    (hand_on, 2, (9,)),
    (through_one, 2, ()),
    (until_it_fails, 2, (40,)),
):
    objects = [Named(f"{f.__name__} {k}") for k in range(n)]
    before = counts(objects)
    for _ in range(200):
        result = f(*objects, *more)
    names = [getattr(o, "name", o) for o in result]
    del result
    print(f.__name__, names, counts(objects) == before, ended.count("five"))
    ended.clear()
    del objects
    print(sorted(ended))
    ended.clear()

objects = tuple(Named(k) for k in range(4))
before = counts(objects)
for _ in range(200):
    result = in_turns(objects, 6)
print([o.name for o in result], result is objects, ended)
del result
print(counts(objects) == before)
ended.clear()

for k in range(200):
    replaced(Named("first"), Named("second"))
    if k < 199:
        ended.clear()
print(ended)
