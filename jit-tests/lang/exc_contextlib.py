"""Context managers made of generators, ExitStack, suppress, closing, nullcontext and decorators, in hot functions."""

from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress

from support import each, hot

log = []


@contextmanager
def managed(name, swallow=()):
    log.append(("in", name))
    try:
        yield name * 2
    except swallow as error:
        log.append(("swallowed", repr(error)))
    finally:
        log.append(("out", name))


@contextmanager
def yields(n):
    for i in range(n):
        yield i


def body(manager, error):
    log.clear()
    with manager() as value:
        log.append(value)
        if error:
            raise error
    return list(log)


def stacked(n, error):
    log.clear()
    with ExitStack() as stack:
        got = [stack.enter_context(managed(i, ValueError if i == 1 else ())) for i in range(n)]
        stack.callback(log.append, "callback")
        if error:
            raise error
    return got, list(log)


@managed("decorated", KeyError)
def decorated(x):
    if x > 3:
        raise KeyError(x)
    return x


def suppressed(items):
    s = 0
    for item in items:
        with suppress(ZeroDivisionError, TypeError):
            s += 10 // item
    return s


class Closes:
    def close(self):
        log.append("closed")


def closes(x):
    log.clear()
    with closing(Closes()) as c, nullcontext(x) as y:
        return y / x, c is not None


each(body, (lambda: managed("a"), None), (lambda: managed("a"), ValueError(1)), (lambda: managed("a", ValueError), ValueError(1)),
     (lambda: managed("a", ValueError), StopIteration(1)), (lambda: yields(0), None), (lambda: yields(2), None), (lambda: yields(1), KeyError(1)))
each(stacked, (3, None), (3, ValueError(2)), (1, ValueError(3)), (0, OSError()))
each(decorated, (1,), (5,))
hot(suppressed, [1, 0, 2, "x", 5])
hot(suppressed, [1, None, object])
each(closes, (2,), (0,))
