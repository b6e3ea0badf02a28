"""An exception met natively whose frame object, or traceback, can't be made for want of memory: MemoryError comes instead."""

import gc

try:
    from _testcapi import remove_mem_hooks, set_nomemory
except ImportError:
    set_nomemory = remove_mem_hooks = lambda *numbers: None


def caught(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        return len(error.args)
    except MemoryError:
        return -1


def missing(d, k):
    try:
        return d[k]
    except (KeyError, MemoryError) as error:
        return type(error).__name__ in ("KeyError", "MemoryError")


def run(function, *args):
    survived = 0
    for n in range(40):
        gc.collect()
        set_nomemory(n, n + 1)
        try:
            function(*args)
        except MemoryError:
            pass
        remove_mem_hooks()
        survived += 1
    return survived


for _ in range(200):
    caught(1), missing({}, "k")
gc.freeze()
print(run(caught, 1), run(missing, {}, "k"))
