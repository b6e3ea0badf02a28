"""A list that only its iterator holds dies where the loop ends: its items' finalisers see the frame as it is then, and may
change what the loop relied on."""

import sys


class Watcher:
    def __init__(self, tell):
        self.tell = tell

    def __del__(self):
        if self.tell:
            frame = sys._getframe(1)
            print("dies in line", frame.f_lineno - frame.f_code.co_firstlineno, end=" ")
            print({k: v for k, v in frame.f_locals.items() if isinstance(v, (int, float))})
            global step
            step = step_of_the_dead


def step(n):
    return n + 1


def step_of_the_dead(n):
    return n + 100


def sums(tell, items):
    total = 0
    x = 0.5
    for turn in range(3):
        for item in [Watcher(False), Watcher(False), Watcher(tell and turn == 1)]:
            total = step(total)
            x = x + 0.25
            del item
        total = step(total)
    return total, x


def tuples(tell):
    count = 0
    for item in (Watcher(False), Watcher(tell)):
        count += 2
        item = None
    count = step(count)
    return count


original = step
for _ in range(60):
    sums(False, 3)
    tuples(False)
print(sums(True, 3))
step = original
print(tuples(True), sums(False, 1))
step = original
for _ in range(3):
    print(tuples(True))
