"""An operation whose result nobody uses raises all the same."""

import math


class Thing:
    def __init__(self):
        self.here = 1


class Slotted:
    __slots__ = ("here", "gone")


def statements(items, n, zero, real, thing, slotted):
    out = []
    for k in range(n):
        for number in range(12):
            try:
                if number == 0:
                    items[n + 700 * (k % 3 == 2)]
                elif number == 1:
                    k // (zero - k % 2)
                elif number == 2:
                    k % (zero + k % 2)
                elif number == 3:
                    k / (zero + k % 2)
                elif number == 4:
                    real / (real - 1.5 * (k % 2))
                elif number == 5:
                    real // (real - 1.5 * (k % 2))
                elif number == 6:
                    k << zero - k % 2
                elif number == 7:
                    k >> zero - k % 2
                elif number == 8:
                    (real * (k % 5)) ** (real * 1000.0 * (k % 3 - 1))
                elif number == 9:
                    math.sqrt(real - 2.0 * (k % 2))
                elif number == 10:
                    if k % 7 == 3:
                        del thing.here
                    thing.here
                else:
                    if k % 7 == 3:
                        del slotted.here
                    slotted.here
            except Exception as error:
                out.append((k, number, type(error).__name__, str(error)))
                thing.here = slotted.here = k
    return out


slotted = Slotted()
slotted.here = 1
for turn in range(3):
    for line in statements(list(range(300)), 40, 0, 1.5, Thing(), slotted):
        print(line)
for line in statements(list(range(300)), 260, 0, 1.5, Thing(), slotted)[-40:]:
    print(line)
