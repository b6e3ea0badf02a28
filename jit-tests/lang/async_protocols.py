"""await, async for and async with on users' objects: every method wrong, missing, raising or returning what it must not."""

from support import each


class Await:
    def __init__(self, make):
        self.make = make

    def __await__(self):
        return self.make()


class Iter:
    def __init__(self, first, step=None):
        self.first, self.step = first, step

    def __aiter__(self):
        return self.first(self)

    def __anext__(self):
        return self.step(self)


class Count:
    def __init__(self, n, error=StopAsyncIteration):
        self.n, self.error = n, error

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.n -= 1
        if self.n < 0:
            raise self.error
        return self.n


class With:
    def __init__(self, swallow=False, enter=None, leave=None):
        self.swallow, self.enter, self.leave, self.log = swallow, enter, leave, []

    async def __aenter__(self):
        await Await(lambda: iter(["entering"]))
        if self.enter:
            raise self.enter
        return self.log

    async def __aexit__(self, kind, value, trace):
        self.log.append((kind and kind.__name__, str(value)))
        await Await(lambda: iter(["leaving"]))
        if self.leave:
            raise self.leave
        return self.swallow


class OnlyEnter:
    async def __aenter__(self):
        return 1


class PlainWith:
    def __aenter__(self):
        return 5

    def __aexit__(self, *a):
        return None


def run(coroutine):
    seen = []
    try:
        while True:
            seen.append(coroutine.send(None))
    except StopIteration as stop:
        return seen, stop.value


async def awaiting(make):
    return "got", await make()


async def looping(make):
    out = []
    async for x in make():
        if x == 7:
            continue
        if x == 99:
            break
        out.append(x)
    else:
        out.append("else")
    return out


async def entering(make, how):
    for i in range(2):
        async with make() as got:
            if how == "raise":
                raise ValueError(i)
            if how == "return":
                return "returned", got
            if how == "break":
                break
    return "after", got


async def value(x):
    return x


def done(make):
    c = value(1)
    run(c)
    return run(awaiting(lambda: c))


async def unstarted(x):
    c = value(x)
    c.close()
    try:
        await c
    except RuntimeError as error:
        return str(error)


each(lambda m: run(awaiting(m)), (lambda: value(3),), (lambda: Await(lambda: iter([1, 2])),), (lambda: Await(lambda: 5),), (lambda: 5,), (lambda: [1],), (lambda: Await(lambda: 1 / 0),), (lambda: iter([1]),), times=31)
each(lambda m: run(looping(m)), (lambda: Count(3),), (lambda: Count(8),), (lambda: Count(2, KeyError("next")),), (lambda: Count(100),), (lambda: Iter(lambda s: 5),), (lambda: Iter(lambda s: s, lambda s: 5),), (lambda: Iter(lambda s: s, lambda s: 1 / 0),),
     (lambda: Iter(lambda s: 1 / 0),), (lambda: [1, 2],), (lambda: None,), (lambda: Iter(lambda s: s, lambda s: Await(lambda: 5)),), times=31)
each(lambda m, how: run(entering(m, how)), *[(m, how) for m in (With, lambda: With(True), lambda: With(enter=OSError("e")), lambda: With(leave=KeyError("l"))) for how in ("", "raise", "return", "break")],
     (OnlyEnter, ""), (PlainWith, ""), (lambda: 5, ""), times=31)
each(done, (1,), times=31)
each(lambda x: run(unstarted(x)), (2,), times=31)
