"""Tools that begin to ask for events while the innermost of a chain of generators runs hear of all of them."""

import sys


def delegates(inner):
    yield from inner


def hands(inner):
    for item in inner:
        yield item


def changes(inner):
    for item in inner:
        yield item + 1


def handles(inner):
    try:
        yield from inner
    except KeyError:
        yield -1


heard = []


def profile(frame, event, argument):
    if frame.f_code.co_name in NAMES:
        heard.append((frame.f_code.co_name, event, frame.f_lineno))


def trace(frame, event, argument):
    profile(frame, event, argument)
    return trace


def leaf(begin, ends):
    yield 1
    if begin:
        begin()
    if ends == "raises":
        raise KeyError("leaf")
    if ends == "returns":
        return
    yield 2
    yield 3


def watches():
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "test")
    for event in ("PY_YIELD", "PY_RESUME", "PY_RETURN"):
        def told(code, offset, *rest, event=event):
            if code.co_name in NAMES:
                heard.append((code.co_name, event))
        monitoring.register_callback(3, getattr(monitoring.events, event), told)
    monitoring.set_events(3, monitoring.events.PY_YIELD | monitoring.events.PY_RESUME | monitoring.events.PY_RETURN)


def rests():
    sys.setprofile(None)
    sys.settrace(None)
    if sys.monitoring.get_tool(3):
        sys.monitoring.set_events(3, 0)
        sys.monitoring.free_tool_id(3)
    found, heard[:] = list(heard), []
    return found


NAMES = {"delegates", "hands", "changes", "handles", "leaf"}
CHAINS = [(delegates,), (hands,), (delegates, delegates), (hands, delegates, hands), (delegates, changes, hands, delegates),
          (handles, hands, delegates), (hands,) * 10, (delegates, handles, delegates)]
TOOLS = {"profile": lambda: sys.setprofile(profile), "trace": lambda: sys.settrace(trace), "monitoring": watches}


def run(chain, begin, ends):
    generator = leaf(begin, ends)
    for kind in chain:
        generator = kind(generator)
    try:
        return list(generator)
    except KeyError as error:
        return repr(error)


for ends in ("yields", "returns", "raises"):
    for chain in CHAINS:
        for _ in range(40):
            run(chain, None, ends)
        for name, begin in TOOLS.items():
            got = run(chain, begin, ends)
            print(ends, [kind.__name__ for kind in chain][:5], name, got, rests())
            for _ in range(3):
                run(chain, None, ends)
            rests()
