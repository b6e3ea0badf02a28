"""Tracing and profiling switched on and off in the midst of hot functions, by themselves and by callees; events of the frames concerned."""

import sys

from support import HERE, hot

events = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename == HERE or frame.f_code.co_filename != __file__:
        return None
    events.append((event, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def profiler(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        events.append((event, frame.f_code.co_name, getattr(arg, "__name__", arg) if event[0] == "c" else None))


def callee(x):
    y = x + 1
    return y * 2


def traced(n):
    events.clear()
    s = 0
    for i in range(n):
        if i == 2:
            sys.settrace(tracer)
        s += callee(i)
        if i == 4:
            sys.settrace(None)
    return s, list(events)


def profiled(n):
    events.clear()
    s = 0
    for i in range(n):
        if i == 1:
            sys.setprofile(profiler)
        s += callee(i) + len("ab")
        if i == 2:
            sys.setprofile(None)
    return s, list(events)


def on():
    sys.settrace(tracer)


def off():
    sys.settrace(None)


def by_callees(n):
    events.clear()
    try:
        on()
        for i in range(n):
            callee(i)
        off()
        callee(9)
    finally:
        off()
    return list(events)


def raising(n):
    events.clear()
    sys.settrace(tracer)
    try:
        for i in range(n):
            try:
                callee("x")
            except TypeError:
                continue
    finally:
        sys.settrace(None)
    return list(events)


def local_trace(n):
    """A trace function for one frame, set from outside, that changes what is run."""
    events.clear()
    def lines(frame, event, arg):
        events.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return lines
    frame = sys._getframe()
    sys.settrace(lambda *a: None)
    frame.f_trace = lines
    total = 0
    for i in range(n):
        total += i
    frame.f_trace = None
    sys.settrace(None)
    return total, list(events)


def generators(n):
    events.clear()
    def g():
        for i in range(n):
            yield i
    it = g()
    next(it)
    sys.settrace(tracer)
    try:
        rest = list(it)
    finally:
        sys.settrace(None)
    return rest, list(events)


for function in (traced, profiled, by_callees, raising, local_trace, generators):
    hot(function, 6 if function is traced else 3, times=60)
