"""Namespaces whose functions and classes name each other are collected, with the compiled code of these; those in use are not."""

# not in mode late: a unit that is made while a function is still interpreted bets on that function, and holds it.
# not in mode beside: likewise.
# not in mode default: likewise.

import gc
import types
import weakref

SOURCE = """
scale = [3]

class Point:
    def __init__(self, x):
        self.x = x

    def moved(self, by):
        return Point(self.x + by)

def double(x):
    return 2 * x

def quadruple(x):
    return double(double(x))

def total(n):
    p = Point(0)
    for i in range(n):
        p = p.moved(quadruple(i) + len(scale))
    return p.x
"""

SAVIOUR = SOURCE + """
class Saved:
    def __del__(self):
        kept.append((quadruple, total(3)))

saved = Saved()
"""


def made(source=SOURCE, **names):
    space = types.ModuleType("made").__dict__
    space.update(names)
    exec(source, space)
    for _ in range(100):
        assert space["total"](5) == 45, space["total"](5)
    return space


def watched(space):
    return [weakref.ref(space[name]) for name in ("double", "quadruple", "total", "Point")]


def alive(refs):
    for _ in range(3):
        gc.collect()
    return [ref() is not None for ref in refs]


# One that nobody has any more.
refs = watched(made())
print(alive(refs))

# One of which a function is left.
space = made()
refs, total = watched(space), space["total"]
del space
print(alive(refs), total(5))
total.__globals__["double"] = lambda x: x
print(alive(refs), total(5))
del total
print(alive(refs))

# One that another one's functions name, and the other way round.
inner = made()
outer = made(SOURCE + "\ndef across(n):\n    return inner_total(n) + total(n)\n", inner_total=inner["total"])
across = outer["across"]
print([across(n) for n in range(50)][-1])
inner_refs, outer_refs = watched(inner), watched(outer)
del inner, outer
print(alive(inner_refs), alive(outer_refs), across(5))
inner = across.__globals__["inner_total"].__globals__
del across
print(alive(inner_refs), alive(outer_refs), inner["total"](5))
del inner
print(alive(inner_refs), alive(outer_refs))

# Two that hold each other.
one = made()
two = made(SOURCE + "\ndef through(n):\n    return other(n)\n", other=one["total"])
one["back"] = two["through"]
exec("def round(n):\n    return back(n) if n else 0\n", one)
print([one["round"](n) for n in range(60)][-1])
refs = watched(one) + watched(two)
del two
print(alive(refs), one["round"](7))
del one
print(alive(refs))

# One that comes back while it is collected.
kept = []
refs = watched(made(SAVIOUR, kept=kept))
print(alive(refs), kept[0][0](5), kept[0][1])
del kept[:]
print(alive(refs))

# A running one.
def running():
    space = made()
    refs = watched(space)
    exec("def f(n):\n    collect()\n    return quadruple(n)\n", space)
    space["collect"] = gc.collect
    f = space["f"]
    del space
    for i in range(40):
        f(i)
    return f(10), alive(refs), refs


value, before, refs = running()
print(value, before, alive(refs))

# A generator of one.
def suspended():
    space = made()
    exec("def g(n):\n    for i in range(n):\n        yield quadruple(i)\n", space)
    for _ in range(40):
        list(space["g"](5))
    g = space["g"](5)
    next(g)
    return g, watched(space)


g, refs = suspended()
print(alive(refs), list(g))
del g
print(alive(refs))
