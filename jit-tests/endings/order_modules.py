"""Modules are taken down in order, with what they hold: objects of other modules, of classes, in closures, defaults and caches."""

import functools
import os
import sys
import types
import weakref


class Last:
    """Says when it dies, and whether what it calls is still there."""

    made = 0

    def __init__(self, name):
        self.name = name
        Last.made += 1

    def __del__(self, write=os.write):
        write(1, f"del {self.name} {helper(7) if helper else None} {Last.made if Last else None}\n".encode())


def helper(n):
    return n * 2


def module(name, source):
    made = types.ModuleType(name)
    made.Last, made.helper = Last, helper
    sys.modules[name] = made
    exec(source, made.__dict__)
    return made


first = module("first", """
a = Last("first.a")
_b = Last("first._b")
def use(n):
    total = 0
    for i in range(n):
        total += helper(i) + len(a.name)
    return total
""")
second = module("second", """
import first
c = Last("second.c")
def use(n, kept=Last("second.default")):
    return sum(first.use(i) for i in range(n)) + len(kept.name)
class K:
    kept = Last("second.K.kept")
    def method(self, n):
        return use(n) + len(self.kept.name)
""")
print(first.use(3000), second.use(30), [second.K().method(i) for i in range(30)][-1])
print([second.K().method(5) for i in range(2000)][-1])


def closure():
    kept = Last("closure")

    def inner(n):
        return len(kept.name) + helper(n)

    return inner


inner = closure()
print(sum(inner(i) for i in range(3000)))


@functools.lru_cache(maxsize=None)
def cached(n):
    return Last(f"cached {n}")


print(len([cached(1) for i in range(3000)]))


class Slots:
    __slots__ = ("kept", "other")

    def __init__(self, name):
        self.kept = Last(name)
        self.other = None

    def get(self):
        return len(self.kept.name)


slots = Slots("slots")
print(sum(slots.get() for i in range(3000)))
pair = (Last("pair 0"), Last("pair 1"))
by_name = {"x": Last("by_name x"), "y": Last("by_name y")}
many = [Last(f"many {i}") for i in range(3)]
ring = Slots("ring")
ring.other = ring


def look():
    total = 0
    for i in range(3000):
        total += len(pair[i & 1].name) + len(by_name["x"].name) + len(many[i % 3].name) + len(ring.other.kept.name)
    return total


print(look())
constant = Last("constant")


def of_constant(n):
    # Constants of globals are what compiled code holds first of all.
    total = 0
    for i in range(n):
        total += constant.made
    return total


print(of_constant(3000) > 0)
reference = weakref.ref(constant, lambda _, write=os.write: write(1, b"callback\n"))
sys.first_hook = Last("sys.first_hook")
print("end", flush=True)
