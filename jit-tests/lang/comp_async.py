"""Asynchronous comprehensions of all kinds: async for and await within, conditions, nesting, errors on the way."""

from support import each


class Loop:
    """Drives a coroutine; everything awaited gives back its own value."""

    def __init__(self):
        self.asked = []

    def run(self, coroutine):
        value = None
        try:
            while True:
                value = coroutine.send(value)
                self.asked.append(value)
        except StopIteration as stop:
            return stop.value


class Wait:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        got = yield self.value
        if got == 13:
            raise LookupError("unlucky")
        return got


async def numbers(n):
    for i in range(n):
        yield await Wait(i)


async def lists(n):
    return [i * 2 async for i in numbers(n) if i % 2 == 0]


async def mixed(n):
    return {await Wait(i): [j async for j in numbers(i)] for i in range(n)}


async def sets(n):
    return {i % 3 async for i in numbers(n) if await Wait(i) != 1}, [await Wait(j) for j in (5, 6) if await Wait(j - 5)]


async def lazily(n):
    g = (i async for i in numbers(n) if i)
    return [x async for x in g], [x async for x in g]


async def nested(n):
    return [[(i, j) async for j in numbers(i)] async for i in numbers(n)], [k for k in [await Wait(n)]]


async def wrong(n):
    return [x async for x in range(n)]


async def fails(n):
    try:
        return [await Wait(i) for i in range(n, 15)]
    except LookupError as error:
        return str(error), "i" in locals()


def run(function, n):
    loop = Loop()
    return loop.run(function(n)), loop.asked


each(run, (lists, 5), (lists, 0), (mixed, 4), (sets, 6), (lazily, 4), (nested, 3), (wrong, 3), (fails, 10), (fails, 14), (lists, 14), times=40)
