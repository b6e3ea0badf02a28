"""Code that the program has lost is freed by a full collection, also within a call that compiled code made of a function
that was not compiled yet: that call may be the whole program."""

import contextlib
import gc
import weakref


def lose(call):
    function = eval("lambda: 42")
    if call:
        print(function())
    dead = weakref.ref(function.__code__)
    del function
    # The second takes what the first one's end left to be freed.
    gc.collect()
    gc.collect()
    return dead() is None


def program(*calls):
    for call in calls:
        print("dead", lose(call))


@contextlib.contextmanager
def around():
    print("before")
    yield
    print("after")


@around()
def decorated():
    program(False, True)


def starred(*functions):
    for function in functions:
        function(*[True, False])


def items():
    yield lose(True)
    yield lose(False)


def delegated():
    result = yield from items()
    print("result", result)


async def awaited():
    print("dead", lose(True))


async def waits():
    await awaited()


decorated()
starred(program, lambda *calls: program(*calls))
print(list(delegated()))
try:
    waits().send(None)
except StopIteration as end:
    print("ended", end.value)
