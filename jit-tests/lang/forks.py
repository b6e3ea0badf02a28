"""fork with hot code on both sides: before, during and after compiling, and children that compile code of their own."""

import os
import sys


def work(n, k):
    s = 0
    for i in range(n):
        s += i * k % 7
    return s


def child(f):
    """Run f in a forked child; what it printed and its exit code."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            os.write(write, repr(f()).encode())
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(write)
    out = b""
    while piece := os.read(read, 4096):
        out += piece
    os.close(read)
    return out.decode(), os.waitpid(pid, 0)[1]


def forks_inside(n):
    """Forks in the middle of a loop; both sides finish it."""
    s = 0
    for i in range(n):
        s += i
        if i == n - 50:
            pid = os.fork()
            if pid == 0:
                s += 1000000
    if pid == 0:
        os._exit(0 if s == n * (n - 1) // 2 + 1000000 else 1)
    return s, os.waitpid(pid, 0)[1]


def fresh(k):
    space = {}
    exec(f"def f(n):\n    s = {k}\n    for i in range(n):\n        s += i * {k}\n    return s\n", space)
    return space["f"]


sys.stdout.flush()
print(child(lambda: work(500, 3)))
print(work(500, 3))
print(child(lambda: work(500, 3)), child(lambda: [fresh(k)(400) for k in range(5)]))
print([fresh(k)(400) for k in range(5, 10)], work(500, 4))
sys.stdout.flush()
print(forks_inside(500))
print(child(lambda: child(lambda: work(500, 5))), child(lambda: 1 / 0))
both = fresh(3)
both(400)
print(child(lambda: (both(401), [fresh(k)(300) for k in range(20, 25)], both(402))), both(401))
print([fresh(k)(300) for k in range(30, 35)], both(402))
