"""Signals in loops around loops: whichever loop asks for pending work, endless ones stop, and a handler runs where the interpreter runs it."""

import signal


class Alarm(Exception):
    pass


def alarm(number, frame):
    raise Alarm


def twice():
    r = range(3)
    n = 0
    while True:
        for i in r:
            for j in r:
                n += i - j


def known_ranges():
    n = 0
    while True:
        for i in range(4):
            for j in range(4):
                for k in range(4):
                    n = (n + i * j - k) & 1023


def seldom_entered(m):
    n = 0
    while True:
        for i in range(m):
            n += i
        n += 1
        if n > 1 << 60:
            break


def over_lists(l):
    n = 0
    while True:
        for x in l:
            for y in l:
                n = (n + x * y) & 1023


def whiles():
    n = 0
    while True:
        i = 0
        while i < 5:
            i += 1
            j = 0
            while j < 5:
                j += 1
                n = (n + i * j) & 1023


def either(l, r):
    n = 0
    while True:
        for i in r:
            if n & 1:
                for x in l:
                    n = (n + x) & 1023
            else:
                n = (n + i + 1) & 1023


signal.signal(signal.SIGALRM, alarm)
for f, args in (
    (twice, ()),
    (known_ranges, ()),
    (seldom_entered, (0,)),
    (seldom_entered, (3,)),
    (over_lists, ([1, 2, 3],)),
    (whiles, ()),
    (either, ([1, 2], range(2))),
    (either, ([], range(1))),
):
    for _ in range(3):
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        try:
            f(*args)
        except Alarm:
            print("stopped", f.__name__)

seen = []


def note(number, frame):
    if frame.f_code.co_name == "__del__":
        frame = frame.f_back
    seen.append([frame.f_locals.get(name) for name in "ijn"])


def between(n, at):
    """The signal is raised behind the inner loop, which has asked before."""
    r = range(n)
    for i in r:
        for j in r:
            n += j
        if i == at:
            signal.raise_signal(signal.SIGUSR1)
        n += 1
    return n


def inside(n, at):
    """The signal is raised in the inner loop's last turn."""
    r = range(n)
    for i in r:
        for j in r:
            n += j
            if i == at and j == 9:
                signal.raise_signal(signal.SIGUSR1)
    return n


class Raises:
    def __del__(self):
        signal.raise_signal(signal.SIGUSR1)


def dropped(n, at):
    """It is raised where something ends behind the inner loop."""
    r = range(n)
    held = None
    for i in r:
        held = Raises() if i == at else i
        for j in r:
            n += j
        held = None
        n += 1
    return n


signal.signal(signal.SIGUSR1, note)
for f in (between, inside, dropped):
    for at in [-1] * 60 + [4, 9, 0]:
        result = f(10, at)
    print(f.__name__, result, seen)
    seen.clear()
