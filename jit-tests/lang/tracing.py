"""settrace, setprofile and sys.monitoring switched on and off in the middle of a hot loop, by it or by a callee."""

import sys

events = []


def tracer(frame, event, arg):
    if frame.f_code.co_name in ("hot", "leaf", "until"):
        events.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def leaf(i):
    return i + 1


def hot(n, on, off):
    s = 0
    for i in range(n):
        if i == on:
            sys.settrace(tracer)
            sys._getframe().f_trace = tracer
        s += leaf(i)
        if i == off:
            sys.settrace(None)
    return s


def digest(rows):
    return len(rows), rows[:4], rows[-4:]


print(hot(400, 390, 393), digest(events))
events.clear()
print(hot(400, 1000, 1000), digest(events))


def callee(i):
    if i == 380:
        sys.settrace(tracer)
    if i == 385:
        sys.settrace(None)
    return i


def until(n):
    s = 0
    for i in range(n):
        s += callee(i)
        s += leaf(i)
    return s


print(until(400), digest(events))
events.clear()


def profiler(frame, event, arg):
    if frame.f_code.co_name in ("leaf", "prof") or (event.startswith("c_") and arg is len):
        events.append((event, frame.f_code.co_name))


def prof(n):
    s = 0
    for i in range(n):
        if i == n - 3:
            sys.setprofile(profiler)
        s += leaf(i) + len("ab")
    sys.setprofile(None)
    return s


print(prof(400), digest(events))
events.clear()


def changes_local(frame, event, arg):
    """A tracer that writes a local of the traced frame."""
    if event == "line" and frame.f_code.co_name == "watched":
        if frame.f_locals.get("i") == 390 and frame.f_locals.get("s", 0) < 10**6:
            frame.f_locals["s"] = 10**6
    return changes_local


def watched(n):
    s = 0
    for i in range(n):
        s += 1
        if i == 380:
            sys.settrace(changes_local)
            sys._getframe().f_trace = changes_local
    sys.settrace(None)
    return s


print(watched(400))
mon = sys.monitoring
TOOL = 1
mon.use_tool_id(TOOL, "lang-test")
seen = []
mon.register_callback(TOOL, mon.events.PY_RETURN, lambda code, offset, value: seen.append((code.co_name, value)))


def monitored(n):
    s = 0
    for i in range(n):
        if i == n - 4:
            mon.set_local_events(TOOL, leaf.__code__, mon.events.PY_RETURN)
        if i == n - 2:
            mon.set_local_events(TOOL, leaf.__code__, 0)
        s += leaf(i)
    return s


print(monitored(400), seen)
mon.free_tool_id(TOOL)


def raising_tracer(frame, event, arg):
    if frame.f_code.co_name == "leaf":
        raise RuntimeError("from the tracer")


def broken(n):
    s = 0
    for i in range(n):
        if i == n - 2:
            sys.settrace(raising_tracer)
        s += leaf(i)
    return s


try:
    broken(400)
except RuntimeError as error:
    print(error, sys.gettrace())
