"""Generators and coroutines that are made without a frame, and whose memory serves the next ones of the same code."""

import gc
import sys
import types
import warnings
import weakref


def count(n):
    for i in range(n):
        yield i


def pair(a, b=2, *rest, c=3, **more):
    yield a, b, rest, c, sorted(more)


async def add(a, b):
    return a + b


async def sums(n):
    total = 0
    for i in range(n):
        total += await add(i, 1)
    return total


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def closures(k):
    def inner(n):
        for i in range(n):
            yield i * k

    return sum(inner(4)) + sum(i + k for i in range(3))


def both():
    kept = "kept"

    def inner():
        nonlocal kept
        kept += "!"
        yield kept

    return next(inner()) + kept


def make_all():
    total = 0
    for n in range(60):
        total += sum(count(3)) + run(sums(4)) + closures(n)
        total += len(next(pair(n))) + len(next(pair(n, 5, 6, 7, c=8, d=9)))
    return total


print(make_all(), both(), both())


# Names are those of the function at the call, whatever the one before was called.
def named():
    g = count(1)
    first = g.__name__, g.__qualname__
    g.__name__, g.__qualname__ = "other", "another"
    return first, list(g)


for _ in range(40):
    found = named()
print(found)
count.__name__ = "renamed"
print(named())
count.__name__ = "count"
print(named())


# What is new in old memory is new: state, tracking, finaliser, weak references.
def inspect():
    seen = []
    for _ in range(40):
        g = count(2)
        seen.append((gc.is_tracked(g), gc.is_finalized(g), weakref.getweakrefcount(g), g.gi_running, g.gi_frame is not None, g.gi_yieldfrom))
        r = weakref.ref(g)
        list(g)
        seen.append((g.gi_frame, r() is g))
        del g
        seen.append(r())
    return set(seen)


print(sorted(inspect(), key=str))


class Loud:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __del__(self):
        self.log.append(self.name)


def holds(loud):
    yield loud.name
    yield "end"


def deaths():
    log = []
    for i in range(40):
        g = holds(Loud(log, i))
        next(g)
        if i % 2:
            list(g)
            log.append("ended")
        del g
    return log


print(deaths()[-6:])


def cycles():
    def loop():
        me = yield
        yield me

    for _ in range(40):
        g = loop()
        next(g)
        g.send(g)
        del g
    gc.collect()
    return sum(isinstance(o, types.GeneratorType) and o.__name__ == "loop" for o in gc.get_objects())


print(cycles())


# An object that dies with a frame that has just ended sees the generator ended.
class Looks:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append((self.generator.gi_frame, self.generator.gi_running, sys._getframe().f_back.f_code.co_name))


def looked(looks):
    yield 1


def ends():
    log = []
    for _ in range(40):
        looks = Looks(log)
        g = looks.generator = looked(looks)
        del looks
        list(g)
        del g
    return log[-1], len(log)


print(ends())


def raises(exception):
    try:
        yield 1
        raise exception
    except KeyError as e:
        yield e.args
        raise ValueError("in the handler")


def handled():
    out = []
    for _ in range(40):
        try:
            out.append(list(raises(KeyError("k"))))
        except ValueError as e:
            out.append((e.args, type(e.__context__).__name__, sys.exception() is e))
        try:
            list(raises(OSError("o")))
        except OSError as e:
            out.append((e.args, e.__traceback__.tb_next.tb_lineno))
    return out[-2:]


print(handled())


# The call itself raises where the interpreter's does.
def deep(n):
    g = count(1)
    return deep(n + 1) + len(list(g))


def limits():
    try:
        deep(0)
    except RecursionError as e:
        trace, names = e.__traceback__, set()
        while trace:
            names.add(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        return str(e), "deep" in names


print(limits())


def wrong():
    out = []
    for call in (lambda: count(), lambda: count(1, 2), lambda: count(n=1), lambda: count(m=1), lambda: pair()):
        try:
            out.append(list(call()))
        except TypeError as e:
            out.append(str(e))
    return out


for _ in range(40):
    found = wrong()
print(found)


# Where a coroutine came from is asked for at any time.
def origins():
    sys.set_coroutine_origin_tracking_depth(2)
    try:
        c = add(1, 2)
        origin = [(line, name) for _, line, name in c.cr_origin]
        return origin, run(c)
    finally:
        sys.set_coroutine_origin_tracking_depth(0)


print(origins())
print(origins())
c = add(1, 2)
print(c.cr_origin, run(c))


def forgotten():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            add(1, 2)
        return [str(w.message) for w in caught]


print(forgotten())


# A code object dies with the generators' memory.
def fresh(n):
    space = {}
    exec(f"def made(n):\n    for i in range(n):\n        yield i + {n}", space)
    made = space["made"]
    return sum(sum(made(3)) for _ in range(60))


print([fresh(n) for n in range(4)])


# The last reference to a function is its generator's.
def last(n):
    def made():
        yield n
        yield n + 1

    g = made()
    ref = weakref.ref(made)
    del made
    alive = ref() is not None
    return next(g), alive, list(g), ref()


for n in range(40):
    found = last(n)
print(found)


def traced(frame, event, arg):
    if frame.f_code is count.__code__:
        events.append(event)
    return traced


events = []
sys.settrace(traced)
list(count(2))
sys.settrace(None)
print(events)


def swapped():
    before = list(count(3))
    code = count.__code__
    count.__code__ = holds.__code__.replace(co_name="swapped")
    after = list(count(Loud([], "swapped")))
    count.__code__ = code
    return before, after, list(count(3))


print(swapped())
print(swapped())
