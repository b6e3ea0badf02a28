"""Long unwinding: finally and with in every frame of deep recursion, exceptions caught far up, traceback lengths, objects freed in order."""

from support import each, hot

log = []


class Held:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        log.append(self.n)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        log.append((self.n, error[0] and error[0].__name__))


def down(n, how):
    held = Held(n)
    if n == 0:
        if how == "raise":
            raise ValueError("bottom")
        return how
    if n % 3 == 0:
        with Held(-n):
            return down(n - 1, how)
    if n % 3 == 1:
        try:
            return down(n - 1, how)
        finally:
            log.append(f"finally {n}")
    return [down(n - 1, how), held][0]


def caught(n, how):
    log.clear()
    try:
        result = down(n, how)
    except ValueError as error:
        trace, lines = error.__traceback__, []
        while trace:
            lines.append(trace.tb_lineno - trace.tb_frame.f_code.co_firstlineno)
            trace = trace.tb_next
        result = lines
        del error
    return result, list(log)


def through(n, errors):
    """Raised and caught at several heights at once."""
    try:
        if n == 0:
            raise errors[0]("start")
        return through(n - 1, errors)
    except errors[n % len(errors)] as e:
        if n > 4:
            return n, str(e), str(e.__context__)
        raise errors[(n + 1) % len(errors)](n) from e


each(caught, (7, "raise"), (7, "plain"), (1, "raise"), (20, "raise"), times=40)
each(through, (8, (ValueError, KeyError)), (8, (ValueError, KeyError, OSError)), (3, (ValueError,)), times=40)
hot(caught, 100, "raise", times=10)
