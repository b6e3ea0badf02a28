"""Handlers at exit, timers, threads that are waited for, suspended generators and coroutines, and what they call then."""

import atexit
import gc
import os
import sys
import threading
import time
import weakref


# In which order cycles end follows from when the collector ran last.
gc.disable()


class R:
    def __init__(self, name):
        self.name = name
        self.me = self

    def __del__(self, write=os.write):
        total = 0
        for i in range(500):
            total += helper(i) if helper else -1
        write(1, f"del {self.name} {total} {G}\n".encode())


def helper(i):
    return i & 3


G = "g"


def gen():
    try:
        for i in range(10**9):
            yield i
    finally:
        print("gen closed", helper is None or helper(3))


def delegating(n):
    try:
        yield from delegating(n - 1) if n else gen()
    finally:
        print("delegating closed", n)


g, d = gen(), delegating(3)
for i in range(2000):
    next(g)
    next(d)
rs = [R(i) for i in range(3)]


def at(k):
    total = 0
    for i in range(2000):
        total += helper(i) + k
    print("at", k, total)
    if k == 1:
        # One of the last moments at which something is hot for the first time.
        def late(n):
            return sum(helper(i) for i in range(n))

        print("late", [late(20) for _ in range(300)][-1])


for k in range(3):
    atexit.register(at, k)


@atexit.register
def collects():
    gc.collect()
    print("collected")


def callback(_):
    print("weak", sum(helper(i) for i in range(500)) if helper else None)


o = R(9)
w = weakref.ref(o, callback)
weakref.finalize(o, print, "fin")
timer = threading.Timer(0.05, lambda: (ended.wait(), print("timer", sum(helper(i) for i in range(2000)))))
ended = threading.Event()
timer.start()


class A:
    def __await__(self):
        yield 1


async def co():
    try:
        while True:
            await A()
    finally:
        print("co closed")


c = co()
for i in range(2000):
    c.send(None)
sys.modules["__main__"].cyc = cyc = [c, g]
cyc.append(cyc)


def waited():
    timer.join()
    total = 0
    for i in range(2000):
        total += helper(i)
        if i % 1000 == 0:
            time.sleep(0.001)
    print("thread", total)


threading.Thread(target=waited).start()
sys.stdout.reconfigure(write_through=True)
print("end")
ended.set()
sys.exit(3)
