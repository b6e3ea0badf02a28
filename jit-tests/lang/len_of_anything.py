"""`len` of what is no list or tuple: what it gives, what it raises and when its operand dies."""

import sys


class Sized:
    def __init__(self, n, log=None):
        self.n, self.log = n, log

    def __len__(self):
        return self.n() if callable(self.n) else self.n

    def __del__(self):
        if self.log is not None:
            self.log.append((self.n, sys._getframe(1).f_code.co_name))


def fails():
    raise KeyError("no length")


def frame():
    return len(sys._getframe(2).f_code.co_name)


def lengths(things):
    out = []
    for thing in things:
        try:
            out.append(len(thing))
        except Exception as e:
            out.append((type(e).__name__, str(e), e.__traceback__.tb_lineno, e.__traceback__.tb_next is not None))
    return out


THINGS = ["", "äöü", b"ab", {}, {1: 2}, {1, 2}, frozenset(), range(3), range(2**70), memoryview(b"abc"), [1], (1, 2)]
ODD = [5, None, 1.5, int, Sized, Sized(3), Sized(-1), Sized("x"), Sized(2**80), Sized(True), Sized(fails), Sized(frame)]
for _ in range(40):
    found = lengths(THINGS)
print(found)
for _ in range(40):
    found = lengths(THINGS + ODD)
print(found)


def dies(log):
    n = len(Sized(1, log)) + len("abc")
    log.append("after")
    try:
        len(Sized(fails, log))
    except KeyError:
        log.append("caught")
    return n


for _ in range(40):
    log = []
    n = dies(log)
print(n, [entry if isinstance(entry, str) else (entry[0] == 1, entry[1]) for entry in log])


def replaced(n):
    global len
    total = 0
    for i in range(n):
        if i == n // 2:
            len = lambda x: 100
        total += len("ab")
    del len
    return total + len("ab")


print(replaced(50), replaced(50))


def by_hand(n):
    f = len
    return sum(f("abc") for _ in range(n)), [f(x) for x in ("a", {}, b"abc")]


print(by_hand(50))


def ill(n):
    out = []
    for i in range(n):
        try:
            out.append(len("a", "b") if i % 2 else len())
        except TypeError as e:
            out.append(str(e))
    return out[-2:]


print(ill(50))
