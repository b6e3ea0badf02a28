"""A program's own `__import__` hears of its imports, and of nothing that the compiler wants to know of classes."""

import builtins


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def total(self):
        return self.a + self.b


def pairs(n):
    total = 0
    for i in range(n):
        total += Pair(i, 2).total()
    return total


def imported(n):
    for i in range(n):
        import math
    return math.floor(2.5)


original = builtins.__import__
heard = []


def own(name, *rest):
    heard.append(name)
    return original(name, *rest)


builtins.__import__ = own
print([pairs(50) for _ in range(50)][-1], heard)
print(imported(3), heard)
builtins.__import__ = original
