"""Coroutines, `await`, `async for`, `async with`, asynchronous generators."""

import sys
import types


class Wait:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        got = yield self.value
        return got


@types.coroutine
def pause(x):
    return (yield x)


async def leaf(n):
    return n + 1


async def adds(n):
    total = 0
    for i in range(n):
        total += await leaf(i)
    return total


async def talks(n):
    out = []
    for i in range(n):
        out.append(await Wait(i))
        out.append(await pause(-i))
    return out


def run(coroutine):
    """Send back what is yielded, doubled."""
    value = None
    seen = []
    try:
        while True:
            value = coroutine.send(value)
            seen.append(value)
            value = (value, value)
    except StopIteration as stop:
        return seen, stop.value


class Manager:
    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        self.log.append("enter")
        await pause("entering")
        return 5

    async def __aexit__(self, kind, error, tb):
        self.log.append(("exit", kind and kind.__name__))
        await pause("leaving")
        return kind is ValueError


async def managed(fail):
    log = []
    async with Manager(log) as m:
        log.append(m)
        await pause("inside")
        if fail:
            raise ValueError("inside")
    return log


class Counter:
    def __init__(self, n):
        self.n = n
        self.i = 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.i == self.n:
            raise StopAsyncIteration
        self.i += 1
        await pause(self.i)
        return self.i


async def iterates(n):
    total = 0
    async for x in Counter(n):
        total += x
    else:
        total += 1000
    return total


async def agen(n):
    for i in range(n):
        got = yield i
        if got:
            await pause(("got", got))
        await pause(i)


async def uses_agen(n):
    out = []
    async for x in agen(n):
        out.append(x)
    out.append([x async for x in agen(2)])
    out.append([x + await leaf(x) async for x in agen(3) if x])
    g = agen(5)
    out.append(await g.asend(None))
    out.append(await g.asend("v"))
    try:
        await g.athrow(KeyError("thrown"))
    except KeyError as error:
        out.append(repr(error))
    g = agen(3)
    await anext(g)
    await g.aclose()
    out.append(await anext(g, "closed"))
    return out


async def fails(n):
    if n == 0:
        await pause("last")
        raise LookupError("deep")
    return await fails(n - 1)


async def catches(n):
    try:
        return await fails(n)
    except LookupError as error:
        tb, lines = error.__traceback__, []
        while tb:
            lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        return lines


async def stops():
    raise StopIteration("bad")


async def twice():
    c = pause_in_coroutine()
    it = c.__await__()
    next(it)
    try:
        await c
    except RuntimeError as error:
        return str(error)


async def pause_in_coroutine():
    await pause(1)


async def errors():
    out = []
    for make in (lambda: 5, lambda: None):
        try:
            await make()
        except TypeError as error:
            out.append(str(error))
    try:
        async for x in [1]:
            pass
    except TypeError as error:
        out.append(str(error))
    try:
        async with 5:
            pass
    except TypeError as error:
        out.append(str(error))
    try:
        await stops()
    except RuntimeError as error:
        out.append(repr(error))
    c = leaf(1)
    await c
    try:
        await c
    except RuntimeError as error:
        out.append(str(error))
    return out


class BadAnext:
    def __aiter__(self):
        return self

    def __anext__(self):
        return 5


async def bad_anext():
    try:
        async for x in BadAnext():
            pass
    except TypeError as error:
        return str(error), repr(error.__cause__)


def closes():
    log = []

    async def waits():
        try:
            await pause(1)
        finally:
            log.append("finally")

    c = waits()
    c.send(None)
    log.append((c.cr_running, type(c.cr_await).__name__, c.cr_frame.f_lineno - waits.__code__.co_firstlineno))
    c.close()
    log.append(c.cr_frame)
    return log


async def worker(n, results):
    for i in range(n):
        await pause("turn")
        results.append((n, i))
    return n


def in_turn(*coroutines):
    """Each coroutine goes on to its next pause, in turn."""
    waiting, done = list(enumerate(coroutines)), {}
    while waiting:
        key, coroutine = waiting.pop(0)
        try:
            coroutine.send(None)
        except StopIteration as stop:
            done[key] = stop.value
        else:
            waiting.append((key, coroutine))
    return sorted(done.items())


def tasks():
    results, queue = [], []
    done = in_turn(*(worker(n, results) for n in range(5)))

    async def produce():
        for i in [0, 1, 2, 3, 4, None]:
            queue.append(i)
            await pause("put")

    async def consume():
        total = 0
        while True:
            while not queue:
                await pause("wait")
            x = queue.pop(0)
            if x is None:
                return total
            total += x

    return done, results, in_turn(produce(), consume())


def main():
    for _ in range(50):
        results = [
            run(adds(10)),
            run(talks(3)),
            run(managed(False)),
            run(managed(True)),
            run(iterates(4)),
            run(uses_agen(3)),
            run(catches(5)),
            run(twice()),
            run(errors()),
            run(bad_anext()),
            closes(),
        ]
    for _ in range(40):
        last = tasks()
    results.append(last)
    for r in results:
        print(r)


main()
