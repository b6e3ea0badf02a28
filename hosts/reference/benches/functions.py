# The functions of benches/functions.rs.
# `python -m cladonia export functions.py` writes functions.tbc.


def ints(n):
    total = 0
    i = 0
    while i < n:
        total = total + i * i % 7
        i = i + 1
    return total


def floats(n):
    x = 0.5
    i = 0
    while i < n:
        x = x * x - 0.75 + 0.001
        i = i + 1
    return x


def lists(n):
    items = list(range(100))
    total = 0
    for _ in range(n):
        for item in items:
            total = total + item
    return total


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def attributes(n):
    p = Point(1, 2)
    for i in range(n):
        p.x = p.x + p.y
        p.y = p.y + i % 3
    return p.x


def calls(n):
    if n < 2:
        return n
    return calls(n - 1) + calls(n - 2)


def exceptions(n):
    caught = 0
    for i in range(n):
        try:
            if i % 2 == 0:
                raise ValueError
            caught = caught + 2
        except ValueError:
            caught = caught + 1
    return caught


def larger(a, b):
    if a < b:
        return b
    return a


def step(total, i):
    return larger(total - i, i) + 1


def small(n):
    total = 0
    for i in range(n):
        total = step(total, i)
    return total


for f in (ints, floats, lists, attributes, exceptions, small):
    f(10)
calls(5)
