"""Errors where none can go on: in __del__, weakref callbacks and generators being dropped; the hook is told, and the function goes on."""

import sys
import weakref

from support import hot

told = []


def hook(args):
    trace = args.exc_traceback
    lines = []
    while trace:
        lines.append((trace.tb_frame.f_code.co_name, trace.tb_lineno - trace.tb_frame.f_code.co_firstlineno))
        trace = trace.tb_next
    told.append((args.exc_type.__name__, str(args.exc_value), lines, getattr(args.object, "__qualname__", type(args.object).__name__)))


class Fails:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        if self.n % 2:
            raise ValueError(self.n)
        return 1 / self.n


def dropped(n):
    told.clear()
    s = 0
    for i in range(n):
        o = Fails(i)
        s += o.n
    del o
    return s, list(told)


def while_handling():
    told.clear()
    try:
        raise KeyError("handled")
    except KeyError:
        Fails(1)
        state = repr(sys.exception())
    return state, list(told)


def while_raising():
    told.clear()
    try:
        o = Fails(3)
        raise OSError("going") from None
    except OSError as error:
        o = None
        return str(error), list(told)


def callback():
    told.clear()
    class O:
        pass
    o = O()
    r = weakref.ref(o, lambda r: [][0])
    del o
    return r() is None, [(t[0], t[2]) for t in told]


def generator():
    told.clear()
    def g():
        try:
            yield 1
        finally:
            raise LookupError("closing")
    it = g()
    next(it)
    del it
    def h():
        try:
            yield 1
        except GeneratorExit:
            yield 2
    it = h()
    next(it)
    del it
    return [(t[0], t[1], t[2]) for t in told]


def in_call():
    """The argument dies while the result is computed."""
    told.clear()
    def take(o):
        n = o.n
        del o
        return n * 2
    return take(Fails(5)) + take(Fails(7)), list(told)


sys.unraisablehook = hook
hot(dropped, 4, times=60)
for function in (while_handling, while_raising, callback, generator, in_call):
    hot(function, times=60)
