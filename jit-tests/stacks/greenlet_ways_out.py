"""Greenlets that are suspended in units of every kind, which are thrown away meanwhile: each way out of a unit leads back right."""

# repeat: 3

import gc
import weakref

from greenlet import getcurrent, greenlet

STEP = 1


def switch(value=None):
    return getcurrent().parent.switch(value)


def called(x):
    return switch(x) + STEP


def caught(x):
    try:
        return switch(x) + STEP
    except ValueError as error:
        return -error.args[0]


def passed_on(x):
    y = x * 2
    return switch(x) + y + STEP


def counted(n):
    total = 0
    for i in range(n):
        total += i
        if i % 50 == 49:
            total += switch(total) or STEP
    return total


def items(n):
    base = 0.5
    for i in range(n):
        base += i
        got = switch(base)
        yield base + got + STEP


def delegated(n):
    yield from items(n)


def handed_on(n):
    for item in delegated(n):
        yield item


class Switching:
    """Switches wherever the interpreter may call it."""

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        switch("lt")
        return self.value < other.value

    def __eq__(self, other):
        return switch("eq") is None

    def __hash__(self):
        return 1

    def __add__(self, other):
        return switch("add") + other

    def __getattr__(self, name):
        return switch(name)


class Dying:
    """Switches when it dies."""

    def __del__(self):
        try:
            LOG.append(switch("del"))
        except BaseException as error:
            LOG.append(type(error).__name__)


LOG = []


def sorts(n):
    values = sorted((Switching(-i) for i in range(n)))
    return [v.value for v in values]


def looks_up(n):
    table = {Switching(0): 1}
    return [Switching(0) in table for _ in range(n)]


def adds(n):
    total = 0
    s = Switching(1)
    for i in range(n):
        total += s + i
    return total


def asks(n):
    s = Switching(1)
    return [s.missing for _ in range(n)]


def drops(n):
    for i in range(n):
        s = Dying()
        s = i
    return s


def nested(depth):
    return switch(depth) or STEP if depth == 0 else nested(depth - 1) + 1


def consumes(make, n):
    return sum(make(n))


def run(function, *args, feed=lambda k, got: k):
    """All that a greenlet gives and what it comes to."""
    g = greenlet(function)
    got, seen = g.switch(*args), []
    while not g.dead:
        seen.append(got)
        got = g.switch(feed(len(seen), got))
    return got, len(seen), seen[-1:] and seen[-1]


CASES = [(called, 3), (caught, 3), (passed_on, 4), (counted, 400), (consumes, items, 9), (consumes, delegated, 9),
         (consumes, handed_on, 9), (sorts, 9), (looks_up, 4), (adds, 9), (asks, 9), (drops, 9), (nested, 40)]


def others(k):
    """Functions that are compiled meanwhile: units that nobody needs are freed, and their memory is used again."""
    namespace = {}
    exec(f"def f(n):\n  s = 0\n  for i in range(n): s += i * {k} % 7\n  return s", namespace)
    return namespace["f"](3000)


def suspended(cases=CASES):
    """A greenlet in each of the cases, at its first switch."""
    for function, *args in cases:
        g = greenlet(function)
        yield g, g.switch(*args)


def finish(g, value):
    count = 0
    while not g.dead and count < 1000:
        value = g.switch(1)
        count += 1
    return value


def main():
    global STEP
    for _ in range(60):
        results = [run(*case) for case in CASES]
    print(results)
    waiting = list(suspended())
    STEP = 2
    print(sum(others(k) for k in range(30)))
    print([finish(g, value) for g, value in waiting])
    # Thrown into, killed and collected.
    waiting = list(suspended())
    STEP = 3
    print(sum(others(k) for k in range(30)))
    outcomes = []
    for g, _ in waiting:
        try:
            outcomes.append(g.throw(ValueError(5)))
        except ValueError as error:
            depth, trace = 0, error.__traceback__
            while trace:
                depth, trace = depth + 1, trace.tb_next
            outcomes.append((str(error), depth))
    print(outcomes)
    print([finish(g, None) if not g.dead else "dead" for g, _ in waiting])
    # Those that go on in spite of being killed are told of by greenlet itself, by their addresses.
    waiting = list(suspended([case for case in CASES if case[0] is not drops]))
    alive = [weakref.ref(g) for g, _ in waiting]
    STEP = 4
    del waiting, g
    gc.collect()
    print(sum(others(k) for k in range(30)), sum(ref() is not None for ref in alive))
    print([run(*case) for case in CASES])
    print(len(LOG), LOG[-3:])


main()
