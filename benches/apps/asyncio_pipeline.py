"""Coroutines that pass work along: queues, a semaphore, tasks in groups, generators, timeouts; no
sockets."""

import asyncio
import contextlib


class Stage:
    def __init__(self, name, width):
        self.name = name
        self.inbox = asyncio.Queue(maxsize=8)
        self.slots = asyncio.Semaphore(width)
        self.done = 0

    async def handle(self, item):
        async with self.slots:
            if item % 3 == 0:
                await asyncio.sleep(0)
            self.done += 1
            return item * 2 + len(self.name)

    async def run(self, following):
        while (item := await self.inbox.get()) is not None:
            result = await self.handle(item)
            if following is not None:
                await following.inbox.put(result)
        if following is not None:
            await following.inbox.put(None)


async def numbers(count):
    for n in range(count):
        if n % 50 == 49:
            await asyncio.sleep(0)
        yield n


@contextlib.asynccontextmanager
async def pipeline(names):
    stages = [Stage(name, 2) for name in names]
    async with asyncio.TaskGroup() as group:
        for stage, following in zip(stages, [*stages[1:], None]):
            group.create_task(stage.run(following))
        yield stages


async def main():
    async with pipeline(["read", "parse", "store"]) as stages:
        async for n in numbers(2000):
            await stages[0].inbox.put(n)
        await stages[0].inbox.put(None)
    results = await asyncio.gather(*(stages[0].handle(n) for n in range(500)), return_exceptions=True)
    try:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
    except TimeoutError:
        results.append("late")
    return [stage.done for stage in stages], results


def work():
    return asyncio.run(main())
