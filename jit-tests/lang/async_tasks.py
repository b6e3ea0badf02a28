"""A small event loop in the program: many coroutines in turn, cancelled, timed out, sharing state, raising through several awaits."""

from collections import deque

from support import each, hot


class Suspend:
    def __init__(self, what=None):
        self.what = what

    def __await__(self):
        return (yield self.what)


class Task:
    def __init__(self, coroutine, name):
        self.coroutine, self.name, self.result, self.error, self.waiters = coroutine, name, None, None, []
        self.done = False

    def __await__(self):
        while not self.done:
            yield self
        if self.error:
            raise self.error
        return self.result


class Loop:
    def __init__(self):
        self.ready, self.log, self.turns = deque(), [], 0

    def spawn(self, coroutine, name):
        task = Task(coroutine, name)
        self.ready.append((task, None))
        return task

    def run(self, main):
        main = self.spawn(main, "main")
        while self.ready:
            self.turns += 1
            task, error = self.ready.popleft()
            try:
                task.coroutine.throw(error) if error else task.coroutine.send(None)
            except StopIteration as stop:
                task.done, task.result = True, stop.value
            except Exception as raised:
                task.done, task.error = True, raised
                self.log.append((task.name, repr(raised)))
            else:
                self.ready.append((task, None))
        return main.result if main.error is None else repr(main.error)


class Cancelled(Exception):
    pass


async def count(loop, name, n):
    try:
        for i in range(n):
            loop.log.append((name, i))
            await Suspend()
        return n
    except Cancelled:
        loop.log.append((name, "cancelled"))
        raise
    finally:
        loop.log.append((name, "end"))


async def deep(n, fail):
    await Suspend(n)
    if n == 0:
        if fail:
            raise LookupError("deep")
        return 0
    try:
        return 1 + await deep(n - 1, fail)
    except LookupError as error:
        error.add_note(str(n))
        raise


async def main(loop, plan):
    tasks = [loop.spawn(count(loop, name, n), name) for name, n in plan]
    total = 0
    for task in tasks:
        total += await task
    return total, len(loop.log)


async def failing(loop, n):
    task = loop.spawn(deep(n, True), "deep")
    try:
        await task
    except LookupError as error:
        return str(error), error.__notes__


async def cancelling(loop, n):
    task = loop.spawn(count(loop, "victim", 50), "victim")
    for _ in range(n):
        await Suspend()
    loop.ready.remove((task, None))
    loop.ready.append((task, Cancelled("now")))
    try:
        return await task
    except Cancelled as error:
        return "cancelled", str(error)


def run(make, *args):
    loop = Loop()
    return loop.run(make(loop, *args)), loop.turns, loop.log[-4:]


each(run, (main, [("a", 3), ("b", 1)]), (main, []), (main, [(f"t{i}", i) for i in range(12)]), (failing, 3), (failing, 25), (cancelling, 3), (cancelling, 0), times=35)
hot(run, lambda loop: deep(40, False), times=20)
