"""Chains of generators that wait for each other: of several codes, at several depths of their stacks, seen and disturbed from within."""

import sys

from support import each, hot


def leaf(n):
    got = None
    for i in range(n):
        got = yield i, got
    return n


def shallow(inner):
    return (yield from inner)


def deep(inner):
    return len([1, 2, (yield from inner)]) + max(3, 4, 5, (yield from leaf(2)))


def looped(inner):
    for x in (1, 2):
        for y in (3,):
            yield from inner if x == 1 else leaf(1)
    return "looped"


def handles(inner):
    try:
        return (yield from inner)
    except KeyError as e:
        got = yield "handled", str(e), sys.exc_info()[1] is e
        return got, sys.exc_info()[1] is e


def built(kinds, inner):
    for kind in kinds:
        inner = kind(inner)
    return inner


def drained(generator, sends=()):
    out = []
    sends = iter(sends)
    try:
        out.append(next(generator))
        while True:
            out.append(generator.send(next(sends, None)))
    except StopIteration as e:
        out.append(e.value)
    return out


orders = [
    (shallow,) * 5,
    (deep,) * 4,
    (shallow, deep) * 3,
    (deep, shallow, shallow, looped, deep, handles),
    (looped, looped, shallow, deep, deep),
    (handles, shallow, handles, looped),
]


def chains(n):
    return [drained(built(kinds, leaf(n)), "abcdefgh") for kinds in orders]


def iterated(n):
    out = []
    for kinds in orders:
        for x in built(kinds, leaf(n)):
            out.append(x)
    return out


def looks(depth, log):
    """Yields what the frames above it say of themselves."""
    for _ in range(4):
        frame, seen = sys._getframe(1), []
        for _ in range(depth):
            seen.append((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, frame.f_lasti))
            frame = frame.f_back
        log.append(seen)
        yield [g.gi_running for g in log[0]]
    return None


def seen(kinds):
    generators = []
    log = [generators]
    inner = looks(len(kinds), log)
    for kind in kinds:
        generators.append(inner)
        inner = kind(inner)
    generators.append(inner)
    out = []
    for x in inner:
        out.append((x, [(g.gi_running, g.gi_suspended, g.gi_yieldfrom is not None, g.gi_frame and (g.gi_frame.f_back, g.gi_frame.f_lasti)) for g in generators]))
    return out, log[1:]


def kept(kinds, n):
    """Frames of the chain that are held from one value to the next."""
    frames = []

    def keeps():
        for i in range(n):
            if i % 3 == 1:
                frames.append(sys._getframe(2))
                yield frames[-1].f_back.f_code.co_name
            yield i

    out = []
    for x in built(kinds, keeps()):
        out.append((x, [f.f_back and f.f_back.f_code.co_name for f in frames[-2:]]))
    return out


def reentered(depth):
    """The innermost resumes one that waits for it."""
    generators = []

    def inner():
        for i in range(len(generators)):
            try:
                yield next(generators[i])
            except ValueError as e:
                yield str(e)

    g = inner()
    for _ in range(depth):
        generators.append(g)
        g = shallow(g)
    return list(g)


def stolen(n):
    """One in the middle is resumed from outside, and ended from outside."""
    first = leaf(n)
    middle = shallow(first)
    outer = shallow(deep(shallow(middle)))
    out = []
    for i, x in enumerate(outer):
        out.append(x)
        if i % 3 == 1:
            out.append(next(middle, "end"))
        if i == n - 4:
            first.close()
    return out


def thrown(kinds):
    out = []
    g = built(kinds, leaf(9))
    out += [next(g), next(g)]
    for error in (KeyError(1), KeyError(2), ValueError(3)):
        try:
            out.append(g.throw(error))
            out.append(next(g))
        except StopIteration as e:
            out.append(("stop", e.value))
        except Exception as e:
            tb, lines = e.__traceback__, []
            while tb:
                lines.append((tb.tb_frame.f_code.co_name, tb.tb_lasti if tb.tb_frame.f_code.co_name != "thrown" else 0))
                tb = tb.tb_next
            out.append((repr(e), lines))
    g.close()
    return out


def fails(n):
    yield n
    raise KeyError(n)


def failing(kinds):
    out = []
    try:
        for x in built(kinds, fails(3)):
            out.append(x)
    except KeyError as e:
        tb = e.__traceback__.tb_next
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lasti))
            tb = tb.tb_next
    return out


def unbounded(n):
    return (yield from unbounded(n + 1)) if n < 10**6 else (yield n)


def too_deep():
    try:
        for x in unbounded(0):
            return x
    except RecursionError as e:
        return str(e)


def deep_enough(n):
    g = leaf(3)
    for _ in range(n):
        g = shallow(g)
    return drained(g)


hot(chains, 6)
hot(iterated, 6)
each(seen, *((kinds,) for kinds in orders))
each(kept, *((kinds, 8) for kinds in orders))
hot(reentered, 6)
hot(stolen, 12)
each(thrown, *((kinds,) for kinds in orders))
each(failing, *((kinds,) for kinds in orders))
hot(too_deep, times=3)
hot(deep_enough, 200, times=3)
