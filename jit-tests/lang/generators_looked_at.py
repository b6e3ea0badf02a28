"""Generators that wait for each other are in the chain of frames whenever somebody looks, whatever the innermost does."""

import gc
import sys
import traceback
import weakref

from support import names


class Looker:
    """Looks at the frames when it is asked for something, compared, called, or dies."""

    seen = []

    def __init__(self, tag):
        self.tag = tag

    def look(self):
        self.seen.append((self.tag, names(sys._getframe(1))))
        return self.tag

    def __bool__(self):
        self.look()
        return True

    def __eq__(self, other):
        self.look()
        return True

    def __add__(self, other):
        self.look()
        return other

    def __getitem__(self, index):
        self.look()
        return index

    @property
    def seen_here(self):
        return self.look()

    def __iter__(self):
        self.look()
        return iter((1, 2))

    def __del__(self):
        self.look()

    def __format__(self, spec):
        return str(self.look())


def chain(depth, leaf):
    if depth:
        yield from chain(depth - 1, leaf)
        yield -depth
    else:
        yield from leaf()


def shown():
    """What was seen, once."""
    seen, Looker.seen[:] = list(Looker.seen), []
    return seen


def drained(depth, leaf):
    got = []
    for value in chain(depth, leaf):
        got.append(value)
    return got


def quiet():
    yield 1
    yield 2


def truth():
    yield 1
    if Looker("bool"):
        yield 2


def equal():
    looker = Looker("eq")
    yield 1
    yield 2 if looker == 3 else 4


def added():
    looker = Looker("add")
    yield 1
    yield looker + 2


def item():
    looker = Looker("item")
    yield 1
    yield looker[2]


def attribute():
    looker = Looker("property")
    yield 1
    yield looker.seen_here


def iterated():
    looker = Looker("iter")
    yield 1
    yield from looker


def dropped():
    looker = Looker("drop")
    yield 1
    looker = None
    yield 2


def dies_with_the_frame():
    looker = Looker("end")
    yield 1


def formatted():
    looker = Looker("format")
    yield 1
    yield f"{looker}"


def called():
    yield 1
    yield sys._getframe().f_back.f_code.co_name
    yield len(names(sys._getframe()))


def nested():
    yield 1
    for value in quiet():
        yield value
    yield sum(value for value in called() if isinstance(value, int))


def raising():
    yield 1
    raise KeyError("leaf")


def dividing(by=0):
    yield 1
    yield 1 // by


LEAVES = [quiet, truth, equal, added, item, attribute, iterated, dropped, dies_with_the_frame, formatted, called, nested]

for leaf in LEAVES:
    for depth in (1, 2, 7, 8, 9, 20):
        first = None
        for _ in range(40):
            got = drained(depth, leaf), shown()
            first = first or got
            assert got == first, (leaf.__name__, depth, got, first)
        print(leaf.__name__, depth, first[0][:4], len(first[0]), [(tag, len(stack), stack[:2], stack[-2:]) for tag, stack in first[1]])

# Exceptions have all of them in their tracebacks.
for leaf in (raising, dividing):
    for depth in (1, 3, 12):
        for _ in range(40):
            try:
                drained(depth, leaf)
            except (KeyError, ZeroDivisionError) as error:
                text = traceback.format_exc()
                lasti = []
                at = error.__traceback__
                while at is not None:
                    lasti.append((at.tb_lineno, at.tb_lasti))
                    at = at.tb_next
        print(text, lasti)


# One in the middle is asked while it runs, and while it waits.
class Middle:
    generator = None


def asks():
    middle = Middle.generator
    yield 1
    yield middle.gi_running, middle.gi_frame.f_lineno, middle.gi_yieldfrom is None
    try:
        next(middle)
    except ValueError as error:
        yield str(error)
    try:
        middle.close()
    except ValueError as error:
        yield str(error)


def middle(leaf):
    yield from leaf()
    yield "after"


def outer(generator):
    yield from generator


def asked():
    Middle.generator = middle(asks)
    got = []
    for value in outer(outer(Middle.generator)):
        got.append((value, Middle.generator.gi_running, Middle.generator.gi_yieldfrom is None, Middle.generator.gi_frame.f_back))
    return got


for _ in range(60):
    got = asked()
print(got)


# One in the middle is moved on by somebody else.
def steals():
    inner = chain(3, quiet)
    whole = outer(outer(outer(inner)))
    got = []
    for value in whole:
        got.append(value)
        if value == 2:
            got.append(("stolen", next(inner, None)))
    return got


for _ in range(60):
    got = steals()
print(got)


# Values are sent and exceptions thrown through all of them.
def echo():
    got = yield "ready"
    while got != "stop":
        try:
            got = yield (got, len(names(sys._getframe())))
        except LookupError as error:
            got = yield repr(error)
    return "stopped"


def passes(depth):
    result = yield from (passes(depth - 1) if depth else echo())
    return (depth, result)


def talks(depth):
    generator = passes(depth)
    got = [next(generator), generator.send(1), generator.throw(KeyError("thrown")), generator.send(2)]
    try:
        generator.send("stop")
    except StopIteration as stop:
        got.append(stop.value)
    return got


for depth in (0, 1, 10):
    for _ in range(40):
        got = talks(depth)
    print(depth, got)


# What ends with the last generator is told before those around go on.
def mourned():
    gone = []

    class Thing:
        pass

    def leaf():
        thing = Thing()
        weakref.finalize(thing, lambda: gone.append(names(sys._getframe(0))[1:]))
        yield 1

    for value in chain(3, leaf):
        gone.append(value)
    return gone


for _ in range(40):
    got = mourned()
print([one if isinstance(one, int) else [name for name, *_ in one] for one in got])


# A collection in the midst looks at them too.
class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        Looker.seen.append(len(names(sys._getframe())))


def collects():
    yield 1
    Cycle()
    gc.collect()
    yield 2


for _ in range(40):
    shown()
    got = drained(5, collects), shown()
print(got)


# So deep that no more frames fit.
def deep(n):
    if n:
        yield from deep(n - 1)
    yield n


def deepest():
    got = []
    try:
        for value in deep(5000):
            got.append(value)
    except RecursionError as error:
        got.append(str(error))
    return got


for _ in range(5):
    got = deepest()
print(len(got), got)
for _ in range(5):
    got = list(deep(300))
print(len(got), got[:3], got[-3:])
