"""Uncaught exceptions and traceback text: lines, columns, chains, from deep inside hot code. Ends with an uncaught error."""

import traceback


def divide(a, b):
    return (a + 1) / (b - 1)


def loop(n):
    total = 0
    for i in range(n):
        total += divide(i, n - i) * \
            1.0
    return total


class Thing:
    def __init__(self):
        self.values = [1, 2, 3]

    def get(self, i):
        return self.values[i] + self.offset(i)

    def offset(self, i):
        return {0: 1, 1: 2}[i]


def attribute(n):
    t = Thing()
    s = 0
    for i in range(n):
        s += t.get(i % 2)
        if i == n - 1:
            s += t.get(
                2,
            )
    return s


def missing(n):
    s = 0
    for i in range(n):
        s += i
    return s + undefined_name + 1


def calls(n):
    for i in range(n):
        int(str(i), 10)
    return int("z" * 3,
               10)


def compare(n):
    s = 0
    for x in list(range(n)) + ["x"]:
        if s < x or x == -1:
            s = x
    return s


def unpack(n):
    for i in range(n):
        a, b = (i, i) if i < n - 1 else (i,)
    return a, b


def store(n):
    t = (1, 2)
    for i in range(n):
        if i > 350:
            t[0] = i
    return t


def method(n):
    x = "s"
    for i in range(n):
        x = x.upper() if i < 390 else 5
    return x


def handler(n):
    for i in range(n):
        try:
            if i == n - 1:
                raise ValueError(f"at {i}")
        except ValueError:
            divide(1, 1)


def from_generator(n):
    return sum(divide(1, n - i) for i in range(n))


def recursive(n):
    return 1 / n + recursive(n - 1)


def finally_line(n):
    try:
        return divide(n, 1)
    finally:
        n += 1


for f in (loop, attribute, missing, calls, compare, unpack, store, method, handler, from_generator, finally_line):
    try:
        f(400)
    except Exception:
        print(traceback.format_exc())
try:
    recursive(20)
except ZeroDivisionError:
    print(traceback.format_exc())
loop(300)
