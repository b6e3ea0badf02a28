"""Asynchronous generators driven by hand: asend, athrow, aclose, awaits between yields, ends, errors, and what is not allowed."""

from support import each


class Wait:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        return (yield self.value)


def run(awaitable):
    """Drive to its end: what it asked for, and its result or error."""
    asked = []
    it = awaitable.__await__()
    try:
        value = None
        while True:
            asked.append(it.send(value))
            value = asked[-1]
    except StopIteration as stop:
        return asked, stop.value
    except BaseException as error:
        return asked, repr(error)


async def numbers(n):
    got = []
    try:
        for i in range(n):
            got.append((yield await Wait(i)))
        await Wait("cleanup")
    except ValueError as error:
        yield "caught", str(error)
    finally:
        log.append(got)


async def stubborn():
    try:
        yield 1
    except GeneratorExit:
        yield 2


async def fails(x):
    yield 1
    yield 1 / x


log = []


def steps(make, plan):
    log.clear()
    g = make()
    out = []
    for what, value in plan:
        if what == "next":
            out.append(run(g.__anext__()))
        elif what == "send":
            out.append(run(g.asend(value)))
        elif what == "throw":
            out.append(run(g.athrow(value)))
        elif what == "close":
            out.append(run(g.aclose()))
    return out, list(log), g.ag_frame is None, g.ag_running


async def consume(make):
    return [x async for x in make()], [x async for x in make() if x]


async def inner(n):
    async for x in numbers(n):
        yield x * 10
    async for x in numbers(1):
        yield x


def twice():
    g = numbers(3)
    first = g.__anext__().__await__()
    first.send(None)
    try:
        g.asend(None).send(None)
    except RuntimeError as error:
        text = str(error)
    try:
        while True:
            first.send(None)
    except StopIteration as stop:
        value = stop.value
    a = g.asend(5)
    run(a)
    try:
        a.send(None)
    except RuntimeError as error:
        return text, value, str(error)


N, C = ("next", None), ("close", None)
each(lambda plan: steps(lambda: numbers(3), plan), ([N, N, N, N, N],), ([N, ("send", "a"), ("send", "b"), C],), ([("send", 5)],), ([N, ("throw", ValueError("v")), N],), ([N, ("throw", KeyError("k")), N],), ([C, N],), ([N, C, C, N],),
     ([("throw", ValueError("early")), N],), ([("send", None), N, ("throw", StopAsyncIteration())],), ([N, ("throw", StopIteration())],), times=31)
each(lambda make, plan: steps(make, plan), (stubborn, [N, C]), (lambda: fails(0), [N, N, N]), (lambda: fails(2), [N, N, N]), (lambda: inner(2), [N, N, N, N, N]), (lambda: numbers(0), [N]), times=31)
each(lambda make: run(consume(make)), (lambda: numbers(3),), (lambda: inner(2),), (lambda: fails(0),), (lambda: numbers(0),), times=31)
each(twice, (), times=31)
