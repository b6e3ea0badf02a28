"""Parts of functions that are executed for the first time after the rest was compiled."""

import gc
import sys


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name)


def phases(n):
    """Loops one after another: each is new when the one before it is compiled."""
    squares = []
    for i in range(n):
        squares.append(i * i)
    total = 0
    for square in squares:
        total += square % 7
    table = [[0.5] * 9 for _ in range(9)]
    for _ in range(n // 40):
        for row in range(9):
            line = table[row]
            for column in range(9):
                line[column] = line[column] * 1.25 - row
    text = ""
    for k in range(n):
        text = text + chr(65 + k % 26) if k % 5 else str(k)
    return total, round(sum(map(sum, table)), 6), text


def rare(n, odd):
    """Branches that are taken late, and then often."""
    out = []
    keep = Noisy("rare")
    for i in range(n):
        if i == odd:
            out.append(("odd", i / 3, [i, keep.name]))
        elif i > n - 60:
            value = i - odd
            out.append(value << 1)
        elif i % 300 == 299:
            try:
                out[n]
            except IndexError as error:
                out.append(str(error))
    return out[-70:]


def raises_late(n, values):
    total = 0
    for i in range(n):
        total += 1
        if i == n - 1:
            total += values["missing"]
    return total


def late_global(n):
    found = 0
    for i in range(n):
        if i > n - 40:
            found += LATE
    return found


def late_locals(n):
    seen = []
    for i in range(n):
        if i > n - 30:
            later = i * 2
            seen.append(sorted(sys._getframe().f_locals)[:2] + [later])
    return seen[-1]


def calls(n):
    def often(x):
        if x == 1234:
            return [x]
        return x + 1

    results = [often(i) for i in range(n)]
    return results[-2:], [often(1234) for _ in range(25)][-1]


print(phases(1300))
print(phases(1300))
for odd in (3, 900, 1500):
    print(rare(1600, odd))
gc.collect()
for _ in range(3):
    try:
        raises_late(900, {})
    except KeyError as error:
        frame = error.__traceback__.tb_next
        print(repr(error), frame.tb_lineno, frame.tb_frame.f_locals["total"])
try:
    late_global(900)
except NameError as error:
    print(error)
LATE = 2
print(late_global(900), late_global(900))
LATE = 0.5
print(late_global(900))
print(late_locals(800), late_locals(800))
print(calls(1500), calls(900))
