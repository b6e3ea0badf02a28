"""The order in which a call's callee, arguments and stars are evaluated, also where one of them raises."""

from support import each, hot

log = []


def note(x, value=None):
    log.append(x)
    if x == fail:
        raise RuntimeError(f"at {x}")
    return x if value is None else value


def target(*args, **kwargs):
    log.append("called")
    return len(args) + len(kwargs)


def call():
    return note("f", target)(note(1), *note("star", (2, 3)), note(4), a=note(5), **note("double", {"b": 6}), c=note(7))


def subscript():
    box = {}
    note("box", box)[note("key")] = note("value")
    note("box", box)[note("key")] += note("more")
    return box


def chain():
    return note(1) < note(2) < note(3) == note(3, 4) < note(5)


def display():
    return {note("k1"): note("v1"), **note("mid", {"x": 1}), note("k2"): note("v2")}, [note(1), *note("s", (9,))], note(2) if note("c", ()) else note(3)


class Holder:
    pass


def targets():
    h = Holder()
    note("obj", h).a, note("list", [0])[note("index", 0)] = note("left"), note("right")
    return h.a


def run(function, where):
    global fail
    fail = where
    log.clear()
    try:
        result = function()
    except RuntimeError as error:
        result = repr(error)
    return result, list(log)


fail = None
for function in (call, subscript, chain, display, targets):
    hot(run, function, None)
each(run, *[(call, w) for w in ("f", 1, "star", 4, 5, "double", 7)])
each(run, *[(subscript, w) for w in ("value", "box", "key", "more")])
each(run, *[(display, w) for w in ("v1", "mid", "s", 2)], *[(targets, w) for w in ("left", "obj", "index")])
