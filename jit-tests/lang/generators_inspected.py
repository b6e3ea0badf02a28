"""What can be seen of generators: while they wait, while they run, from outside and from inside; and tracing."""

import gc
import inspect
import sys
import threading
import weakref


def watched(n):
    total = 0
    for i in range(n):
        total += i
        half = total * 0.5
        yield total
    return half


def states():
    out = []
    g = watched(3)
    out.append((inspect.getgeneratorstate(g), inspect.getgeneratorlocals(g), g.gi_running, g.gi_suspended, g.gi_yieldfrom))
    for x in g:
        out.append((x, inspect.getgeneratorstate(g), dict(inspect.getgeneratorlocals(g)), g.gi_frame.f_lineno, g.gi_frame.f_lasti))
    out.append((inspect.getgeneratorstate(g), inspect.getgeneratorlocals(g), g.gi_frame))
    return out


def plain(n):
    total = 0
    for x in watched(n):
        total += x
    return total


def looks_at_itself(n):
    i = 0
    me = yield
    while i < n:
        i += 1
        try:
            next(me)
        except ValueError as error:
            text = str(error)
        yield (text, me.gi_running, me.gi_frame.f_locals["i"], me.gi_frame.f_lineno, sys._getframe() is me.gi_frame)


def itself(n):
    g = looks_at_itself(n)
    next(g)
    out = [g.send(g)]
    for x in g:
        out.append(x)
    return out


def changed_from_outside(n):
    x = 1
    while x < n:
        yield x
        x += 1


def change(n):
    out = []
    g = changed_from_outside(n)
    for x in g:
        out.append(x)
        if x == 3:
            g.gi_frame.f_locals["x"] = 6
    return out


def change_inside(n):
    x = 1
    while x < n:
        poke()
        yield x
        x += 1


def poke():
    caller = sys._getframe(1)
    if caller.f_locals["x"] == 4:
        caller.f_locals["x"] = 7


def holder(n):
    frames = []
    x = 0
    while x < n:
        x += 1
        frames.append(sys._getframe())
        yield len({id(f) for f in frames}), frames[0].f_locals["x"]


def delegates():
    yield from watched(2)


def yield_from():
    g = delegates()
    out = [g.gi_yieldfrom]
    next(g)
    out.append(type(g.gi_yieldfrom).__name__)
    out.append(g.gi_yieldfrom.gi_frame.f_locals["total"])
    list(g)
    out.append(g.gi_yieldfrom)
    return out


def traced(n):
    for i in range(n):
        x = i * 2
        yield x


def trace_while_suspended():
    events = []

    def tracer(frame, event, arg):
        if frame.f_code is traced.__code__:
            events.append((event, frame.f_lineno, arg if event != "call" else None))
        return tracer

    g = traced(4)
    out = [next(g)]
    sys.settrace(tracer)
    out.append(next(g))
    out.append(next(g))
    sys.settrace(None)
    out.extend(g)
    return out, events


def profile_while_suspended():
    events = []

    def profiler(frame, event, arg):
        if frame.f_code is traced.__code__:
            events.append((event, frame.f_lineno, arg))

    g = traced(3)
    next(g)
    sys.setprofile(profiler)
    out = list(g)
    sys.setprofile(None)
    return out, events


def tracing_begins_inside(n, events):
    def tracer(frame, event, arg):
        events.append((frame.f_code.co_name, event, frame.f_lineno))
        return tracer

    for i in range(n):
        if i == 2:
            sys.settrace(tracer)
            sys._getframe().f_trace = tracer
        yield i
    sys.settrace(None)


def begins_inside():
    events = []
    out = [x for x in tracing_begins_inside(4, events)]
    sys.settrace(None)
    return out, [e for e in events if e[0] == "tracing_begins_inside"]


class Dies:
    def __init__(self, name, log):
        self.name = name
        self.log = log

    def __del__(self):
        self.log.append(self.name)


def keeps(log):
    a = Dies("a", log)
    b = Dies("b", log)
    try:
        yield 1
        b = None
        log.append("b gone")
        yield 2
    finally:
        log.append("finally")


def deaths():
    log = []
    g = keeps(log)
    for x in g:
        log.append(x)
    log.append("end")
    g = keeps(log)
    next(g)
    del g
    log.append("deleted")
    return log


class Node:
    pass


def cycle():
    def gen():
        node = Node()
        node.me = yield
        yield node

    g = gen()
    next(g)
    node = g.send(g)
    ref = weakref.ref(node)
    del g, node
    gc.collect()
    return ref() is None


def in_handlers():
    out = []
    try:
        raise ValueError("outer")
    except ValueError:
        for x in handles():
            out.append((x, repr(sys.exception())))
    return out


def handles():
    yield repr(sys.exception())
    try:
        raise KeyError("inner")
    except KeyError:
        yield repr(sys.exception())
        yield repr(sys.exception())
    yield repr(sys.exception())


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, *args):
        self.log.append(("exit", args[0] and args[0].__name__))
        return args[0] is ValueError


def with_manager(log):
    with Manager(log) as m:
        yield 1
        x = yield 2
        if x:
            raise ValueError("in with")
    yield 3


def managers():
    log = []
    log.append(list(with_manager(log)))
    g = with_manager(log)
    next(g)
    next(g)
    log.append(g.send(True))
    g = with_manager(log)
    next(g)
    g.close()
    return log


def alternately(n):
    """Resumed by compiled code, by C code, and by the interpreter in turn."""
    out = []
    g = watched(n)
    namespace = {"g": g, "out": out}
    for x in g:
        out.append(x)
        exec("for y in g:\n    out.append(y)\n    break", namespace)
        out.append(next(g, None))
        out.extend(v for v, _ in zip(g, range(2)))
    return out


def threads():
    def work(results):
        total = 0
        for _ in range(50):
            for x in watched(20):
                total += x
        results.append(total)

    results = []
    workers = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    return results


def replaced(n):
    yield "old"
    yield n


def other(n):
    yield "new"
    yield -n


def code_change():
    out = []
    old = replaced.__code__
    g = replaced(1)
    out.append(next(g))
    replaced.__code__ = other.__code__
    out.append(next(g))
    out.append(list(replaced(2)))
    replaced.__code__ = old
    out.append(list(replaced(3)))
    return out


scale = 2


def uses_global(n):
    for i in range(n):
        yield i * scale


def global_change():
    global scale
    out = []
    for x in uses_global(4):
        out.append(x)
        scale += 1
    scale = 2
    return out


def main():
    for _ in range(50):
        results = [
            plain(5),
            states(),
            itself(2),
            change(9),
            [x for x in change_inside(9)],
            [x for x in holder(3)],
            yield_from(),
            deaths(),
            cycle(),
            in_handlers(),
            managers(),
            alternately(14),
            code_change(),
            global_change(),
        ]
    results += [trace_while_suspended(), profile_while_suspended(), begins_inside(), threads(), plain(50), trace_while_suspended()]
    for r in results:
        print(r)


main()
