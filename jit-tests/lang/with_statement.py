"""with: order of enter and exit, swallowed and replaced exceptions, several managers, in hot loops; protocol errors."""

from contextlib import contextmanager, suppress

log = []


class Manager:
    def __init__(self, name, swallow=False, fail=None):
        self.name = name
        self.swallow = swallow
        self.fail = fail

    def __enter__(self):
        log.append(f"enter {self.name}")
        if self.fail == "enter":
            raise OSError("enter")
        return self

    def __exit__(self, kind, error, trace):
        log.append(f"exit {self.name} {kind.__name__ if kind else None}")
        if self.fail == "exit":
            raise KeyError("exit")
        return self.swallow


class Counter:
    def __init__(self):
        self.open = 0
        self.total = 0

    def __enter__(self):
        self.open += 1
        return self.open

    def __exit__(self, *info):
        self.open -= 1
        self.total += 1
        return info[0] is ValueError


def flush():
    print(*log, sep=", ")
    log.clear()


def loops(c, n):
    s = 0
    for i in range(n):
        with c as k:
            s += k
            if i % 7 == 0:
                raise ValueError(i)
            if i % 5 == 0:
                continue
            with c as k2:
                s += k2 * 10
    return s, c.open, c.total


def returns(n):
    for i in range(n):
        with Manager(i) if i == n - 1 else suppress() as m:
            if i == n - 1:
                return m.name


def nested():
    with Manager("a") as a, Manager("b", swallow=True) as b:
        log.append(a.name + b.name)
        1 / 0
    log.append("after")


@contextmanager
def tag(name):
    log.append(f"<{name}>")
    try:
        yield name
    finally:
        log.append(f"</{name}>")


def generator_based(n):
    s = 0
    for i in range(n):
        with suppress(ZeroDivisionError):
            s += 100 // (i % 3)
    with tag("x") as t, tag("y"):
        s += len(t)
    return s


print(loops(Counter(), 400))
print(returns(300))
flush()
nested()
flush()
print(generator_based(400))
flush()
for m in (Manager("e", fail="enter"), Manager("x", fail="exit"), Manager("z")):
    try:
        with m:
            {}["inside"]
    except (OSError, KeyError) as error:
        print(type(error).__name__, error, type(error.__context__).__name__)
    flush()
for bad in (5, type("NoExit", (), {"__enter__": lambda self: 1})()):
    try:
        with bad:
            pass
    except TypeError as error:
        print(error)


def unpack_target(n):
    s = 0
    for i in range(n):
        with Pair() as (a, b):
            s += a + b
    return s


class Pair:
    def __enter__(self):
        return 1, 2

    def __exit__(self, *info):
        pass


def late_failure(n):
    for i in range(n):
        with Pair() as (a, b):
            a // (n - 1 - i)


print(unpack_target(400))
try:
    late_failure(350)
except ZeroDivisionError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
