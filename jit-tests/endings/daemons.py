"""Daemon threads that run compiled code of many shapes when the interpreter ends, each wherever it is then."""
# repeat: 20
# ends while threads run

import _thread
import gc
import os
import sys
import time
import weakref

count = 0
null = os.open(os.devnull, os.O_WRONLY)


def globals_stored():
    global count
    i = 0
    while True:
        i += 1
        count = i


def handlers():
    while True:
        try:
            raise ValueError
        except ValueError:
            pass


def recursion():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    while True:
        down(50)


def generators():
    while True:
        sum(x for x in range(10))
        sorted([3, 2, 1], key=lambda z: -z)


def delegation():
    def inner(n):
        for i in range(n):
            yield i
        time.sleep(0)

    def outer(depth, n):
        if depth:
            yield from outer(depth - 1, n)
        else:
            for i in inner(n):
                yield i

    while True:
        for _ in outer(6, 5):
            pass


def coroutines():
    class Wait:
        def __await__(self):
            yield 1

    async def leaf(n):
        await Wait()
        time.sleep(0)
        return n

    async def main():
        while True:
            await leaf(1)

    running = main()
    while True:
        running.send(None)


def sleeping():
    i = 0
    while True:
        time.sleep(0.0001)
        i += 1


def writing():
    while True:
        os.write(null, b"x")


def closing_files():
    # What is dropped gives up the lock itself.
    while True:
        file = open(os.devnull, "rb")
        file = None


class Ends:
    def __init__(self, lock):
        self.lock = lock

    def __del__(self):
        with self.lock:
            time.sleep(0)


def finalisers():
    lock = _thread.allocate_lock()
    while True:
        kept = [Ends(lock), Ends(lock)]
        kept.pop()


lock = _thread.allocate_lock()


def locks():
    n = 0
    while True:
        with lock:
            n += 1


def waiting():
    mine = _thread.allocate_lock()
    n = 0
    while True:
        n += 1
        mine.acquire(timeout=0.01 if n > 50 else -1)
        if n <= 50:
            mine.release()


class Value:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        time.sleep(0)
        return self.n == other.n

    def __hash__(self):
        return 1

    @property
    def twice(self):
        time.sleep(0)
        return self.n * 2

    def __getattr__(self, name):
        return len(name)


def comparisons():
    while True:
        found = {Value(1): 1, Value(2): 2}
        found.get(Value(2))


def attributes():
    value = Value(3)
    total = 0
    while True:
        total += value.twice + value.absent


def callbacks():
    def key(n):
        time.sleep(0)
        return -n

    while True:
        sorted(range(5), key=key)
        list(map(lambda x: x + 1, range(5)))


def new_functions():
    n = 0
    while True:
        n += 1
        space = {}
        exec(f"def f(x):\n    for i in range({n % 7}): x += i\n    return x\n", space)
        for i in range(5):
            space["f"](i)


def new_classes():
    while True:
        class Made:
            x = 1

            def f(self):
                return self.x

        made = Made()
        made.f()
        Made.x = 2
        made.f()


def frames_seen():
    def look():
        return sys._getframe(1).f_locals["n"]

    n = 0
    while True:
        n += 1
        assert look() == n


def references():
    seen = []
    while True:
        it = Ends(_thread.allocate_lock())
        ref = weakref.ref(it, seen.append)
        it = None
        seen.clear()
        assert ref() is None


def collections():
    while True:
        ring = []
        ring.append(ring)
        ring = None
        gc.collect(0)


def keywords(a=1, *rest, b=2, **named):
    time.sleep(0)
    return a + b + len(rest) + len(named)


def calls():
    while True:
        keywords(1, 2, 3, b=4, c=5)
        keywords(*[1, 2], **{"b": 3})


def strings():
    text = ""
    while True:
        text = f"{len(text)}:{text[:10]!r:>20}"


SHAPES = [
    globals_stored, handlers, recursion, generators, delegation, coroutines, sleeping, writing, closing_files, finalisers, locks, locks,
    waiting, comparisons, attributes, callbacks, new_functions, new_classes, frames_seen, references, collections, calls, strings,
]
sys.setswitchinterval(0.0005)
for shape in SHAPES:
    _thread.start_new_thread(shape, ())
time.sleep(0.08)
print("end")
