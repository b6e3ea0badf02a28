"""Joins whose sides bring values of different types to what comes after them."""

import sys


def mixed(n):
    s = 0.0
    for i in range(n):
        if i & 1:
            x = i
        else:
            x = i * 0.5
        y = x * 2
        s = s + y - x
    return s


def three_ways(kind, n):
    total = 0
    for i in range(n):
        if kind == 0 or i % 3 == 0:
            x = i
        elif kind == 1 or i % 3 == 1:
            x = i + 0.25
        else:
            x = i > 4
        total = total + x * x
    return total


def pairs(flag, n):
    for i in range(n):
        if flag:
            x, y = 3, i
        else:
            x, y = 1.5, i * 0.5
        z = x * y - x
        w = z + y
        flag = not flag
    return z, w


def seen_by(name):
    frame = sys._getframe(1)
    return name, frame.f_locals["x"], frame.f_locals["y"], frame.f_lineno


def looked_at(flag):
    if flag:
        x = 7
    else:
        x = 7.5
    y = x + x
    seen = seen_by("looked_at")
    return seen, x * y


def divided(flag, by):
    if flag:
        x = 7
    else:
        x = 7.5
    y = x * 2
    return y / by


def with_handler(flag, by):
    if flag:
        x = 7
    else:
        x = 7.5
    try:
        y = x * x
        z = y // by
    except ZeroDivisionError as error:
        z = str(error), x
    return z


def correlated(flag, n):
    s = 0
    for i in range(n):
        if flag:
            x, step = 1, 2
        else:
            x, step = "a", None
        s += 1
        if flag:
            s += x + step
        else:
            s += len(x)
        flag = i % 3 == 0
    return s


def grows(n):
    x = 1
    for i in range(n):
        if i == 40:
            x = x * 1.0
        y = x * 3
        x = y if y < 1000 else 1
    return x, y


class Loud:
    def __init__(self, name):
        self.name = name

    def __add__(self, other):
        print("add", self.name, other)
        return 1

    def __del__(self):
        print("end of", self.name)


def dies(flag, n):
    for i in range(n):
        if flag:
            x = Loud(i)
        elif i & 1:
            x = 2
        else:
            x = 2.5
        y = x + i
    return y


for n in (0, 1, 5, 60):
    print(mixed(n), grows(n + 1), pairs(True, n + 1), pairs(False, n + 1))
for kind in range(3):
    print(kind, three_ways(kind, 9), three_ways(kind, 70))
for k in range(90):
    flag = k % 3 == 0
    seen, product = looked_at(flag)
    correlated(flag, 4)
    handled = with_handler(flag, k % 2)
    if k % 30 < 3:
        print(seen, product, divided(flag, 4), handled, correlated(flag, 7))
for flag in (True, False):
    try:
        divided(flag, 0)
    except ZeroDivisionError as error:
        print(error, error.__traceback__.tb_next.tb_lineno, error.__traceback__.tb_next.tb_frame.f_locals)
print(dies(False, 80), dies(True, 2))
