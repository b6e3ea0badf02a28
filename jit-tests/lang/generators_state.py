"""What a generator holds while it waits: stack entries, tuples that were never made, raw locals, handled exceptions; and many yields."""

import sys


def args(*values, **named):
    return values, named


def in_expressions(n):
    total = 0
    for i in range(n):
        got = args((yield i), i * 2, (yield i + 0.5), key=(yield (i, i)))
        total += len(got[0]) + ((yield total) or 0)
        text = f"{(yield 'a')}-{i}-{(yield 'b')}"
        parts = [(yield 1), *range(2), (yield 2)]
        yield got, text, parts
    return total


def drive_expressions(n):
    out = []
    g = in_expressions(n)
    try:
        x = next(g)
        while True:
            out.append(x)
            x = g.send(len(out))
    except StopIteration as stop:
        out.append(stop.value)
    return out


def tuples(n):
    pair = (0, 1)
    for i in range(n):
        pair = (pair[1], i)
        held = (i, pair)
        if i % 2:
            yield pair
        a, b = held[1]
        yield a + b


def swaps(n):
    a, b = 0, 1
    while a < n:
        yield a
        a, b = b, a + b


def catches(n):
    i, f, seen = 0, 1.0, 0
    while i < n:
        i += 1
        f *= 1.25
        try:
            if i % 3 == 0:
                raise ValueError(i)
            if i % 5 == 0:
                [][i]
            yield i
        except ValueError as error:
            seen += error.args[0]
            yield "value", seen, f
        except IndexError:
            yield "index", repr(sys.exception()), i
        finally:
            seen += 1
    yield seen, f


def nested(n):
    for i in range(n):
        try:
            try:
                yield i
                if i == 2:
                    raise KeyError(i)
            finally:
                yield "finally", i
        except KeyError as error:
            yield repr(error), repr(sys.exception())
            try:
                raise TypeError from error
            except TypeError as again:
                yield repr(again.__cause__), again.__context__ is error
    yield repr(sys.exception())


def groups():
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        yield repr(group)
    except* TypeError as group:
        yield repr(group)
    yield "end"


def many_locals(n):
    a = b = c = d = e = f = g = h = i = j = k = l = m = 0
    o = p = q = r = s = t = u = v = w = x = y = z = 0
    while a < n:
        a += 1
        b, c, d = a * 2, b + 0.5, str(a)
        yield a, b, c, d
        e = e + a
        z = (a, e)
    del o, p
    yield e, z, sorted(k for k in locals() if len(k) == 1)


def unbinds(n):
    for i in range(n):
        x = i
        if i % 2:
            del x
        yield i
        try:
            yield x
        except UnboundLocalError as error:
            yield str(error)


def early(n, log):
    try:
        for i in range(n):
            yield i
    finally:
        log.append("closed")


def breaks():
    log = []
    for x in early(10, log):
        if x == 3:
            break
    log.append("after")
    for x in early(10, log):
        for y in early(5, log):
            if y == x:
                break
        if x > 1:
            return log


def arguments(n):
    """The argument is what the consumer changes."""
    items = [n]
    for x in items:
        got = yield x
        if got:
            items.append(got)


def feeds():
    g = arguments(1)
    out = [next(g)]
    for k in (5, 6.5, "x", None):
        try:
            out.append(g.send(k))
        except StopIteration:
            out.append("stop")
    return out


def types_change(values):
    total = 0
    for v in values:
        total = v
        yield total
        total = total * 2
        yield total


LONG = "def long(n):\n    x = 0\n" + "".join(f"    x += n\n    yield x + {i}\n" for i in range(300))
exec(LONG)


def chain_of_callers(n):
    def at(k):
        if k:
            r = yield from at(k - 1)
            return r + 1
        frame, names = sys._getframe(), []
        while frame.f_code.co_name == "at":
            names.append((frame.f_locals["k"], frame.f_lineno - frame.f_code.co_firstlineno))
            frame = frame.f_back
        yield names
        yield sum(1 for _ in names)
        return 0

    out = list(at(n))
    g = at(n)
    while True:
        try:
            next(g)
        except StopIteration as stop:
            return out, stop.value


def chain_with_handlers(n):
    def at(k):
        try:
            if k:
                yield from at(k - 1)
            else:
                yield "bottom"
                yield 1 // k
        except ZeroDivisionError as error:
            yield k, type(error.__context__).__name__, repr(sys.exception())
            if k == n:
                return
            raise
        finally:
            log.append(k)

    log = []
    return list(at(n)), log


def chain_changes(n):
    """Each generator of the chain looks at who delegates to it, and one is asked from outside meanwhile."""

    def inner():
        for i in range(n):
            yield i, [g.gi_running for g in chain]
            try:
                next(chain[0])
            except ValueError as error:
                yield str(error)

    def outer(k):
        yield from (outer(k - 1) if k else inner())

    chain = []

    def make(k):
        g = outer_of(k)
        chain.append(g)
        return g

    def outer_of(k):
        yield from (make(k - 1) if k else inner())

    return [x for x in make(3)]


def main():
    for _ in range(45):
        results = [
            drive_expressions(3),
            list(tuples(6)),
            list(swaps(2000)),
            list(catches(16)),
            list(nested(4)),
            list(groups()),
            list(many_locals(5)),
            list(unbinds(4)),
            breaks(),
            feeds(),
            list(types_change([1, 2.5, "a", [1], (2,), 10**30, True])),
            sum(long(3)),  # noqa: F821
            chain_of_callers(6),
            chain_with_handlers(4),
            chain_changes(3),
        ]
    for r in results:
        print(r)


main()
