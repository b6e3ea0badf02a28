"""What a finaliser sees of the raw locals of a large function: in the straight line, behind joins and loops, and in loops."""

import sys


class Watcher:
    """When it dies, it notes what the function that it dies in has."""

    seen = []

    def __del__(self):
        shown = sys._getframe(1).f_locals
        self.seen.append(tuple(shown.get(name, "-") for name in "xyznijk"))


PART = """
    box[0] = Watcher() if w & 1 else None
    box[0] = None
    x = x * 0.5 + y
    box[1] = Watcher() if w & 2 else None
    box[1] = None
    if n > {n}:
        y = y + 0.25
        box[0] = Watcher() if w & 4 else None
        box[0] = None
    else:
        n = n + 1
    box[1] = Watcher() if w & 8 else None
    box[1] = None
    for i in r:
        z = z + i
        box[0] = Watcher() if w & 16 else None
        box[0] = None
        for j in r:
            n = n + j
            box[1] = Watcher() if w & 32 else None
            box[1] = None
            keep = x
            x = z
            for k in r:
                n = (n + i * j - k) & 1023
                box[0] = Watcher() if w & 64 else None
                box[0] = None
            x = keep
    box[0] = Watcher() if w & 128 else None
    box[0] = None
    box[1] = None
    box[2] = None
"""


def make(parts):
    text = "def f(x, y, z, n, w, r, box):" + "".join(PART.format(n=n) for n in range(parts))
    names = {"Watcher": Watcher}
    exec(text + "    return x, y, z, n\n", names)
    return names["f"]


def run(f, w, r):
    Watcher.seen = []
    result = f(1.0, 2.0, 3.0, 1, w, r, [None, None, None])
    total = hash(tuple(Watcher.seen)) if "-" not in str(Watcher.seen) else len(Watcher.seen)
    return result, len(Watcher.seen), Watcher.seen[:2], Watcher.seen[-2:], total


for parts in (1, 4):
    f = make(parts)
    for _ in range(40):
        run(f, 0, range(3))
    for w in (0, 1, 2, 4, 8, 16, 32, 64, 128, 255):
        for r in (range(3), range(1), range(0), range(2, 5), range(5, 2)):
            print(parts, w, r, run(f, w, r))


def carried(a, r):
    for i in r:
        for j in r:
            for k in r:
                a = (a + i * j - k) & 1023
    for i in r:
        for j in r:
            for k in r:
                a = (a + i * j + k) & 1023
    return a, locals()


def leaves(a, r, steps):
    """Out of each loop in the middle, and to the end of each."""
    for i in r:
        for j in r:
            if j == steps:
                break
            for k in r:
                if k == steps + 1:
                    continue
                if k == steps + 2:
                    return a, i, j, k
                a = a + i * j - k
            else:
                a = a + 3
        else:
            a = a + 5
    return a, locals()


for _ in range(40):
    carried(1, range(3))
    leaves(1, range(3), 9)
for r in (range(4), range(1), range(0), range(3, 1), range(-2, 3), range(2**63 - 3, 2**63 - 1), range(2**31 - 2, 2**31 + 1), (1, 2), [7]):
    print(carried(5, r))
    for steps in range(-2, 4):
        print(leaves(5, r, steps))


def overflows(a, r):
    for i in r:
        for j in r:
            for k in r:
                a = a * 3 + i + j + k
    return a, i, j, k


for _ in range(30):
    overflows(0, range(2))
print(overflows(1, range(5)))
try:
    overflows(1, range(0))
except UnboundLocalError as error:
    print(error)
