"""Generators, generator expressions, send, throw, close, yield from, and async: interpreted or not, they must be right."""


def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


def running():
    total = 0
    while True:
        got = yield total
        if got is None:
            return total
        total += got


def delegate(n):
    r = yield from count(n)
    yield r
    return "done"


def fibs(limit):
    a, b = 0, 1
    while a < limit:
        yield a
        a, b = b, a + b


def cleanup(log):
    try:
        for i in range(1000):
            try:
                yield i
            except KeyError as error:
                log.append(f"caught {error}")
    finally:
        log.append("closed")


def consume(g):
    s = 0
    for x in g:
        s += x
    return s


def mixed(n):
    for i in range(n):
        yield i if i < n - 3 else i * 0.5


def fails(n):
    for i in range(n):
        yield 10 // (n - 1 - i)


print(consume(count(400)), consume(fibs(10**30)) % 10**12, consume(mixed(400)), consume(i * i for i in range(400) if i % 3))
r = running()
next(r)
for i in range(400):
    t = r.send(i)
print(t)
try:
    r.send(None)
except StopIteration as stop:
    print("stopped with", stop.value)
print([x for x in delegate(3)], sum(x or 0 for x in delegate(300)))
log = []
g = cleanup(log)
print(next(g), next(g), g.throw(KeyError("k")), log)
g.close()
print(log, list(g))
try:
    consume(fails(400))
except ZeroDivisionError as error:
    print(error, [error.__traceback__.tb_next.tb_lineno, error.__traceback__.tb_next.tb_next.tb_lineno])


def nested(n):
    gens = [count(n) for _ in range(3)]
    out = 0
    for a, b, c in zip(*gens):
        out += a * b - c
    return out


print(nested(350), [list(zip(*[iter(range(6))] * 2))], dict(zip("abc", count(3))))


def stop():
    yield 1
    raise StopIteration("inside")


try:
    list(stop())
except RuntimeError as error:
    print(error, type(error.__cause__).__name__)

import asyncio


async def add(a, b):
    await asyncio.sleep(0)
    return a + b


async def ticks(n):
    for i in range(n):
        yield i


async def main():
    s = 0
    for i in range(100):
        s += await add(i, 1)
    async for i in ticks(300):
        s += i
    return s, [i async for i in ticks(3)], await asyncio.gather(add(1, 2), add("a", "b"))


print(asyncio.run(main()))
