"""Synchronous code that waits for coroutines by switching to the greenlet that runs the event loop, as SQLAlchemy's asyncio bridge does."""

# repeat: 3

import asyncio
import sys

from greenlet import getcurrent, greenlet


class Bridge(greenlet):
    def __init__(self, function, loop_greenlet):
        super().__init__(function, loop_greenlet)


def await_only(awaitable):
    return getcurrent().parent.switch(awaitable)


async def spawn(function, *args):
    context = Bridge(function, getcurrent())
    result = context.switch(*args)
    while not context.dead:
        try:
            value = await result
        except BaseException:
            result = context.throw(*sys.exc_info())
        else:
            result = context.switch(value)
    return result


async def fetch(k):
    if k % 5 == 0:
        await asyncio.sleep(0)
    if k % 97 == 96:
        raise LookupError(k)
    return k * 2


def rows(n):
    for k in range(n):
        try:
            yield await_only(fetch(k)) + 0.5
        except LookupError as error:
            yield -float(error.args[0])


def query(n):
    total = 0.0
    for row in rows(n):
        total += row
    return total


async def main():
    results = await asyncio.gather(*[spawn(query, n) for n in range(0, 600, 30)])
    print(sum(results), results[3], results[-1])


for _ in range(5):
    asyncio.run(main())
