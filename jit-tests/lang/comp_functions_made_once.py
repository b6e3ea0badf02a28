"""Generator expressions whose function is made once for a unit: nobody can tell, whatever happens between its making and its call."""

import asyncio
import gc
import sys
import traceback
import types
import weakref


def squares(values):
    return sum(value * value for value in values)


def nested(rows):
    return [sum(x for x in row if x) for row in rows], list(list(y for y in (1, 2)) for _ in rows)


def attributes(values):
    generator = (value for value in values)
    return (generator.__name__, generator.__qualname__, generator.gi_code.co_varnames, generator.gi_frame.f_code is generator.gi_code,
            generator.gi_frame.f_globals is globals(), next(generator, None))


def evaluated(values, seen):
    """The iterable is found while the function waits on the stack."""
    return tuple(value for value in (seen.append(len(values)) or values))


class Broken:
    def __iter__(self):
        raise KeyError("no iterator")


class Odd:
    """Iterates over what its frame's callers are."""

    def __iter__(self):
        frame = sys._getframe(1)
        return iter((frame.f_code.co_name, frame.f_lineno))


def closes_over(values, by):
    return list(value * by for value in values)


async def later(value):
    return value


async def awaited(values):
    return [value async for value in (await later(value) for value in values)]


def failed(values):
    try:
        return tuple(1 // value for value in values)
    except (ZeroDivisionError, TypeError, KeyError):
        return traceback.format_exc()


for _ in range(60):
    seen = []
    first = (squares(range(5)), squares([1.5, 2]), nested([[1, 0, 2], []]), attributes("ab"), evaluated([1, 2], seen), seen,
             tuple(closes_over((1, 2), 3)), asyncio.run(awaited((1, 2))), failed([1, 2]))
print(first)
print(evaluated("xy", seen), evaluated({1: 2}, seen), seen)
print(failed([1, 0]), failed(5), failed(Broken()), failed(Odd()), sep="\n")
print(tuple(value for value in Odd()))


# Two that wait at once, and one that is dropped while it waits, are apart.
def both(values):
    one = (value for value in values)
    two = (value for value in values)
    return next(one), next(two), next(one), list(two), list(one)


def again(values):
    generators = [(value for value in values) for _ in range(3)]
    return [next(generator) for generator in generators], [list(generator) for generator in generators]


for _ in range(60):
    got = both([1, 2, 3]), again([4, 5])
print(got)

# Globals and builtins are those of the moment.
factor = 2


def scaled(values):
    return sum(value * factor for value in values), max(len(str(value)) for value in values)


for _ in range(60):
    got = scaled([1, 20])
factor = 5
print(got, scaled([1, 20]))
len = lambda text: 100
print(scaled([1, 20]))
del len
print(scaled([1, 20]))

SOURCE = """
def lengths(values):
    return list(len(value) for value in values)

def hot(values):
    for _ in range(60):
        got = lengths(values)
    return got
"""


def made():
    space = types.ModuleType("made").__dict__
    exec(SOURCE, space)
    assert space["hot"](["ab", "c"]) == [2, 1]
    return space


# A namespace that is given other builtins gives them to the functions that are made then.
space = made()
space["__builtins__"] = {"len": lambda value: "own", "list": list}
print(space["lengths"](["ab", "c"]))
del space["__builtins__"]
try:
    print(space["lengths"](["ab", "c"]))
except NameError as error:
    print("NameError", error)

# A namespace is collected with what was made for it.
space = made()
gone = weakref.ref(space["lengths"]), weakref.ref(space["hot"])
del space
for _ in range(3):
    gc.collect()
print([ref() for ref in gone])
