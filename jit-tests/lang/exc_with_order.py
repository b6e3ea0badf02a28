"""with: order of entering and leaving, several managers, raising on each side, swallowing, and jumps out of the block."""

from support import each

log = []


class M:
    def __init__(self, name, enter=None, leave=None, swallow=False):
        self.name, self.enter, self.leave, self.swallow = name, enter, leave, swallow

    def __enter__(self):
        log.append(f"+{self.name}")
        if self.enter:
            raise self.enter
        return self.name

    def __exit__(self, kind, value, trace):
        log.append((f"-{self.name}", kind and kind.__name__, str(value), trace is not None))
        if self.leave:
            raise self.leave
        return self.swallow


def three(a, b, c, how):
    log.clear()
    for i in range(2):
        with a as x, b as y:
            with c as (z):
                log.append((x, y, z))
                if how == "return":
                    return "returned", list(log)
                if how == "raise":
                    raise ValueError("body")
                if how == "break":
                    break
                if how == "continue":
                    continue
                log.append("through")
            log.append("after c")
        log.append("after a")
    else:
        log.append("else")
    return list(log)


def shown(*args):
    try:
        return three(*args)
    except Exception as error:
        return repr(error), repr(error.__context__), list(log)


a, b, c = M("a"), M("b"), M("c")
each(shown, *[(a, b, c, how) for how in ("through", "return", "raise", "break", "continue")])
each(shown, *[(a, M("b", swallow=1), c, how) for how in ("return", "raise", "continue")], (a, b, M("c", swallow=True), "raise"))
each(shown, (a, M("b", enter=OSError("entering b")), c, ""), (a, b, M("c", leave=KeyError("leaving c")), "raise"),
     (M("a", swallow=True), b, M("c", leave=KeyError("leaving c")), "return"), (a, b, M("c", enter=KeyError(1), swallow=True), ""),
     (M("a", leave=TypeError("a")), M("b", leave=LookupError("b")), c, "break"), (a, b, M("c", swallow=[]), "raise"))
