"""What the module's names hold ends when the interpreter does, whatever compiled code refers to."""

import contextlib
import os
import tempfile


class Told:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        os.write(1, f"end of {self.name}\n".encode())


def waits(name):
    try:
        while True:
            yield name
    finally:
        os.write(1, f"closed {name}\n".encode())


@contextlib.contextmanager
def entered(name):
    try:
        yield name
    finally:
        os.write(1, f"left {name}\n".encode())


class Held:
    def method(self, n):
        return one(n)

    def again(self, n):
        return self.method(n) + 1


def one(n):
    return n


def two(n):
    return one(n) + 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def total(n):
    return sum(two(i) for i in range(n)) + len([i for i in spread(n)])


def spread(n):
    for i in range(n):
        yield two(i)


told = Told("told")
waiting = waits("generator")
next(waiting)
manager = entered("manager")
manager.__enter__()
held = Held()
for i in range(200):
    two(i), held.again(i), total(3)
print(fib(12))

# A file that is only closed as its module goes is written then. The process that reads it is the one that waits for this.
path = os.path.join(tempfile.gettempdir(), f"exit_finalises_{os.getpid()}")
child = os.fork()
if child:
    os.waitpid(child, 0)
    with open(path) as file:
        print(file.read())
    os.unlink(path)
else:
    out = open(path, "w")
    out.write("written")
    told = waiting = manager = None
