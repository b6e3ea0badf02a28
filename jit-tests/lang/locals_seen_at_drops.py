"""What a finaliser sees in the locals of a frame that stores two locals by one instruction of the interpreter."""

import sys


class Seen:
    def __init__(self, number, loud):
        self.number, self.loud = number, loud

    def __del__(self):
        if self.loud:
            held = sys._getframe(1).f_locals
            print(self.number, sorted((name, value if type(value) in (int, float) else type(value).__name__) for name, value in held.items()))


def pairs():
    for c in range(600):
        first, second = Seen(c, c % 100 == 56), Seen(c, c % 100 == 57)


def with_raw():
    total = 0.0
    for c in range(600):
        first, count = Seen(c, c % 100 == 56), c
        total += count


def swapped():
    a, b = Seen(-1, False), 5
    for c in range(600):
        a, b = Seen(c, c % 150 == 20), b + 1
        b, a = b * 1, a


def three(n):
    x = y = z = None
    for c in range(n):
        x, y, z = Seen(c, c % 200 == 3), Seen(c, c % 200 == 4), c * 0.5


for f in (pairs, with_raw, swapped):
    print(f.__name__)
    f()
print("three")
three(600)


class Kept:
    held = []

    def __init__(self, number):
        self.number = number

    def __del__(self):
        if self.number:
            self.held.append(sys._getframe(1).f_locals)


def opened(n, m):
    """The frame is open from the first of these drops on, and goes on being run."""
    x = 0.5
    for c in range(n):
        x += 1.0
        o, p = Kept(m if c == 150 else 0), Kept(m if c == 250 else 0)
    return x


for m in (1, 2, 3):
    print(opened(400, m), len(Kept.held))
