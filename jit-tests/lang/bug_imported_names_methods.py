"""Methods of a name that the module imports, which the compiler of bytecode binds before it calls them: inlined, they leave nobody a reference."""

import sys
from types import SimpleNamespace as thing


class Counted:
    def __init__(self):
        self.n = 0

    def nothing(self, other):
        pass

    def add(self, n):
        self.n = self.n + n
        return self

    def get(self):
        return self.n


def calls(thing, n):
    for i in range(n):
        thing.nothing(i)
        thing.add(i)
    return thing.get()


def made(n):
    total = 0
    for i in range(n):
        thing = Counted()
        thing.add(i)
        total += thing.add(1).get() + thing.get()
    return total


def once(case, thing):
    start = getattr(thing, "start", None)
    if start is not None:
        start()
    if case:
        thing.nothing(case)
    else:
        thing.add(1)
    return thing


counted = Counted()
before = sys.getrefcount(counted)
print([calls(counted, 60) for _ in range(40)][-1], sys.getrefcount(counted) - before)
print([made(30) for _ in range(40)][-1])
for i in range(300):
    once(i % 3, counted)
print(counted.n, sys.getrefcount(counted) - before)
# Another's method, and then another thread of control in the middle.
Counted.nothing = lambda self, other: self.add(other) and None
print(calls(counted, 10), sys.getrefcount(counted) - before, thing.__name__)
