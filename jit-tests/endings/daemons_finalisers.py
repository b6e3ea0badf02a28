"""Daemon threads that run what the main thread's last words run too: handlers at exit, finalisers, callbacks of weak references."""
# repeat: 20
# ends while threads run

import _thread
import atexit
import sys
import time
import weakref


class Thing:
    def __init__(self, name):
        self.name = name

    def value(self):
        return sum(step(i) for i in range(20))

    def __del__(self):
        if self.name:
            print("del", self.name, self.value(), flush=True)


def step(i):
    return i & 3


def busy():
    while True:
        Thing(None).value()


def busy_generators():
    def numbers():
        for i in range(20):
            yield step(i)

    while True:
        sum(numbers())


def busy_recursion():
    def down(n):
        return step(n) if n == 0 else step(n) + down(n - 1)

    while True:
        down(30)


def at_exit(name):
    # The others run meanwhile.
    time.sleep(0.005)
    print("at exit", name, Thing(None).value(), flush=True)


def suspended():
    try:
        for i in range(10**9):
            yield step(i)
    finally:
        print("closed", Thing(None).value(), flush=True)


things = [Thing("a"), Thing("b")]
ring = [Thing("ring")]
ring.append(ring)
watched = Thing("watched")
reference = weakref.ref(watched, lambda _: print("callback", flush=True))
generator = suspended()
for name in ("first", "second"):
    atexit.register(at_exit, name)
sys.setswitchinterval(0.0005)
for target in (busy, busy_generators, busy_recursion):
    _thread.start_new_thread(target, ())
for _ in range(2000):
    next(generator)
time.sleep(0.03)
print("end", flush=True)
