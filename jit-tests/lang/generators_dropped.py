"""Generators and iterators of lists that are dropped where they wait: what ends then, in what order, who sees it, and that their memory serves others."""

import gc
import sys
import weakref

from support import hot

log = []


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


def told():
    out = log[:]
    log.clear()
    return out


def waits(n, keep):
    x, y = Loud("x"), Loud("y")
    for i in range(n):
        yield i
        x = Loud(f"x{i}")
    return keep, x, y


def protected(n):
    try:
        for i in range(n):
            yield i
    except GeneratorExit:
        log.append(("exit", repr(sys.exception())))
        raise
    finally:
        log.append("finally")


def stubborn():
    try:
        yield 1
    finally:
        yield 2


def clings(kept):
    me = yield
    try:
        yield
    finally:
        kept.append(me)


def handling(n):
    try:
        raise KeyError(n)
    except KeyError as e:
        yield repr(e)
        yield n


def first_of(make, *args):
    for x in make(*args):
        return x


def dropped(n):
    """At its beginning, at a `yield`, at its end; by a loop that is left and by a name that is."""
    out = []
    for i in range(n):
        first_of(waits, 3, Loud("kept"))
        waits(2, Loud("never"))
        out.append(told())
        g = waits(2, None)
        next(g)
        g = None
        out.append(told())
        out.append(any(x > 1 for x in waits(5, Loud("any"))))
        out.append(told())
        out.append(first_of(protected, 3))
        out.append(told())
        out.append(first_of(handling, i))
    return out[-7:]


def resurrected(n):
    kept = []
    for i in range(n):
        g = clings(kept)
        next(g)
        g.send(g)
        del g
        gc.collect() if i == n - 1 else None
    g = kept and kept.pop()
    return len(kept), g and (g.gi_frame, next(g, "ended"))


def ignored(n):
    """A generator that does not end when it is closed is said to be so."""
    seen = []
    # From 3.14 on the generator is named in the message, and is not handed to the hook.
    if sys.version_info < (3, 14):
        named = lambda a: a.object.__name__
    else:
        named = lambda a: (a.object, a.err_msg.partition(" at ")[0])
    before, sys.unraisablehook = sys.unraisablehook, lambda a: seen.append((repr(a.exc_value), named(a)))
    try:
        for _ in range(n):
            first_of(stubborn)
    finally:
        sys.unraisablehook = before
    return len(seen), seen[-1]


def watched(n):
    """Weak references, frames that others hold, and names that were changed."""
    out = []
    for i in range(n):
        g = waits(2, None)
        next(g)
        ref = weakref.ref(g, lambda r: log.append("gone"))
        g.__name__ = f"named {i}"
        frame = g.gi_frame
        del g
        out.append((ref() is None, frame.f_code.co_name, told()))
        frame = None
        h = waits(2, None)
        out.append((h.__name__, h.__qualname__, h.gi_frame.f_lineno - waits.__code__.co_firstlineno, next(h), next(h)))
        del h
        told()
    return out[-2:]


def looks_back(n):
    """The end of what a generator held looks for who is there."""

    class Looks:
        def __del__(self):
            frame = sys._getframe(1)
            log.append((frame.f_code.co_name, [type(o).__name__ for o in gc.get_referrers(self)]))

    def holds():
        me = Looks()
        yield 1

    for _ in range(n):
        first_of(holds)
    return told()[-2:]


def nested(n):
    """Each ends another one."""

    def chain(k):
        inner = chain(k - 1) if k else None
        if inner:
            next(inner)
        end = Loud(k)
        yield k

    for _ in range(n):
        first_of(chain, 20)
    return told()[-21:]


def disturbed(n):
    """The end of one makes others of the same code."""

    class Makes:
        def __del__(self):
            kept.extend(holds(False) for _ in range(20))
            for g in kept:
                next(g)

    def holds(makes):
        x = Makes() if makes else None
        yield x

    out = []
    for _ in range(n):
        kept = []
        first_of(holds, True)
        out.append([next(g, "ended") for g in kept][:3])
        kept.clear()
    return out[-1]


def lists(n):
    """Loops over lists that are left, and whose lists end with them."""
    out = []
    for i in range(n):
        for x in [Loud("a"), Loud("b")]:
            break
        del x
        out.append(told())
        for x in [[1, 2], [3], []]:
            for y in x:
                out.append(y)
                if y == 2:
                    x.append(9) if len(x) < 4 else None
        rows = [[a * b for b in [1, 2, 3]] for a in [4, 5]]
        it = iter(rows[0])
        out += [next(it), it.__length_hint__(), list(it), list(it), it.__length_hint__()]
        out.append([z for row in rows for z in row if any(w > z for w in row)])
    return out[-12:]


def collected(n):
    """The collector sees iterators in cycles."""
    out = []
    for i in range(n):
        cycle = [Loud("cycle")]
        for x in cycle:
            cycle.append(iter(cycle))
            if len(cycle) > 3:
                break
        del x, cycle
        if i == n - 1:
            gc.collect()
            out.append(len(told()) > 0)
    return out


gc.disable()
for f in (dropped, resurrected, ignored, watched, looks_back, nested, disturbed, lists, collected):
    hot(f, 40, times=3)
