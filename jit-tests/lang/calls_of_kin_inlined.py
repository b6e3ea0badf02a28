"""Functions that are made again and again, whose code stands in place of their calls: cells, exits in them, tracebacks, ends."""

import sys


def closure(n, k):
    def f(x):
        return x + k

    total = 0
    for i in range(n):
        total = f(total) % 65536
    return total


def two_results(n):
    def g(a, b):
        return a + b, a - b

    x, y = 1, 2
    for i in range(n):
        x, y = g(x & 255, y & 255)
    return x, y


def of_cells(n, items):
    scale, found = 2, None

    def g(x):
        return x * scale if x > 2 else found

    total = []
    for i in range(n):
        total.append(g(items[i % len(items)]))
        if i == n // 2:
            scale = 3
    return total[-4:], total[:4]


def with_defaults(n):
    def g(a, b=n, *, c=1):
        return a + b + c

    total = 0
    for i in range(n):
        total += g(i, 1, c=2) + g(i)
    return total


class Num:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Num(self.value + getattr(other, "value", other))

    __radd__ = __add__


def changes_class(n, odd):
    def add(a, b):
        return a + b

    total = 0
    for i in range(n):
        total = add(total, odd if i == n - 1 else i)
    return getattr(total, "value", total)


def divides(n, by):
    def g(x):
        return x // by

    try:
        for i in range(n):
            g(i)
    except ZeroDivisionError as error:
        trace, names = error.__traceback__, []
        while trace:
            names.append((trace.tb_frame.f_code.co_name, trace.tb_lineno - trace.tb_frame.f_code.co_firstlineno))
            trace = trace.tb_next
        return names
    return g.__name__


def shown(n, at):
    def g(x):
        return x + 1 if x != at else sys._getframe().f_back.f_locals["i"]

    total = 0
    for i in range(n):
        total += g(i)
    return total


def replaced(n):
    def g(x):
        return x + 1

    def other(x):
        return x - 1

    total = 0
    for i in range(n):
        if i == n // 2:
            g.__code__ = other.__code__
        if i == n - 2:
            g = lambda x: x * 2
        total += g(i)
    return total


def nested(n, k):
    def outer(x):
        return inner(x) + k

    def inner(x):
        return x * k

    total = 0
    for i in range(n):
        total += outer(i)
    return total


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("end of", self.name)


def ends(n):
    loud = Loud("what the closure holds")

    def g(x):
        return x if loud else 0

    total = 0
    for i in range(n):
        total += g(i)
    del g
    loud = None
    print("before the end")
    return total


def unbound(n, early):
    def g(x):
        return x + late

    total = 0
    if not early:
        late = 1
    for i in range(n):
        try:
            total += g(i)
        except NameError as error:
            return str(error)
    return total


for turn in range(70):
    answers = [
        closure(40, 3), closure(40, turn), two_results(40), of_cells(20, [1, 2, 3, 4]), of_cells(20, [3.5, 1]), with_defaults(12),
        changes_class(20, 5), nested(10, turn), shown(20, -1), replaced(20), unbound(10, False),
    ]
print(answers)
for turn in range(40):
    later = [
        closure(40, 2.5), changes_class(20, Num(3)), divides(10, 3), divides(10, 0), shown(20, 7), replaced(9), unbound(10, True),
        of_cells(6, ["a", "b"]) if turn == 41 else None, closure(3, True),
    ]
print(later)
ends(50)
ends(3)
try:
    closure(3, "x")
except TypeError as error:
    print(error)
