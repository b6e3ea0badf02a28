"""What a generator shows of itself between and during steps: frame, lines, locals, names, yieldfrom, running, and what changes it."""

import sys
import types

from support import each, hot


def state(g):
    return "running" if g.gi_running else "suspended" if g.gi_suspended else "ended" if g.gi_frame is None else "created"


def counting(n, step=2):
    total = 0
    for i in range(n):
        total += i * step
        yield total
    return total


def outer(n):
    yield "first"
    yield from counting(n)


def states(n):
    g = counting(n)
    out = [state(g)]
    for x in g:
        f = g.gi_frame
        out.append((x, f.f_lineno - counting.__code__.co_firstlineno, sorted(f.f_locals.items()), g.gi_running, state(g)))
    out.append((state(g), g.gi_frame, g.gi_code is counting.__code__))
    return out


def names():
    g = counting(1)
    g.__name__ = "renamed"
    g.__qualname__ = "qualified"
    try:
        g.__name__ = 5
    except TypeError as error:
        return g.__name__, g.__qualname__, str(error), type(g).__name__


def delegating(n):
    g = outer(n)
    out = [g.gi_yieldfrom]
    next(g)
    out.append(g.gi_yieldfrom)
    while (x := next(g, None)) is not None:
        inner = g.gi_yieldfrom
        out.append((x, inner.__name__, inner.gi_frame.f_locals["total"], inner.gi_frame.f_back is None))
    return out


def from_within():
    def g():
        yield me.gi_running, me.gi_frame.f_back is not None, state(me)
        yield sys._getframe() is me.gi_frame
    me = g()
    return list(me)


def changed(n):
    g = counting(n)
    next(g)
    next(g)
    g.gi_frame.f_locals["total"] = 1000
    after = next(g)
    g.gi_frame.f_locals["step"] = "x"
    rest = next(g, None)
    return after, rest, g.gi_frame.f_locals["total"]


def cleared():
    g = counting(5)
    next(g)
    try:
        g.gi_frame.clear()
    except RuntimeError as error:
        return str(error), next(g)
    return next(g, "ended")


def kinds():
    return isinstance(counting(1), types.GeneratorType), counting.__code__.co_flags & 32, outer(1).gi_suspended, hasattr(iter([]), "send")


each(states, (0,), (3,))
hot(names)
hot(delegating, 3)
hot(from_within)
hot(changed, 6)
hot(cleared)
hot(kinds)
