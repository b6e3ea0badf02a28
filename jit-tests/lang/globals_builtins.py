"""Globals and builtins: rebinding in the middle of a loop, shadowing a builtin, deleting, names that were never there."""

import builtins

scale = 2
counter = 0


def scaled(n):
    global scale
    s = 0
    for i in range(n):
        s += i * scale
        if i == n - 20:
            scale = 10
        if i == n - 10:
            scale = 0.5
    return s


def change_from_outside(n, f):
    s = 0
    for i in range(n):
        f(i)
        s += scale
    return s


def set_scale(i):
    globals()["scale"] = i if i > 380 else 1


def uses_len(items, n, hook):
    s = 0
    for i in range(n):
        hook(i)
        s += len(items)
    return s


def shadow(i):
    if i == 350:
        globals()["len"] = lambda x: 1000
    if i == 360:
        del globals()["len"]
    if i == 370:
        builtins.len = lambda x: 7
    if i == 380:
        builtins.len = real_len


real_len = len


def callee():
    return 1


def other():
    return 100


def calls(n):
    global callee
    s = 0
    for i in range(n):
        s += callee()
        if i == 390:
            callee = other
    return s


def increments(n):
    global counter
    for _ in range(n):
        counter += 1
    return counter


def missing(n):
    s = 0
    for i in range(n):
        s += i
        if i == n - 1:
            s += never_defined
    return s


def deleted(n):
    global gone
    gone = 1
    for i in range(n):
        gone += 1
        if i == n - 5:
            del gone
    return gone


print(scaled(400), scale)
print(change_from_outside(400, set_scale))
print(uses_len([1, 2], 400, shadow), len is real_len)
print(calls(400), callee())
print(increments(400), increments(2**9), counter)
for f in (missing, deleted):
    try:
        f(400)
    except NameError as error:
        print(type(error).__name__, error, error.name, error.__traceback__.tb_next.tb_lineno)
print(eval("scale + 1", {"scale": 41}), eval("max(scale, 1)"))


def isolated(source):
    space = {"__builtins__": {"range": range}}
    exec(source, space)
    return space["f"]


f = isolated("def f(n):\n    s = 0\n    for i in range(n): s += i\n    return s, len([])\n")
try:
    f(400)
except NameError as error:
    print(error)
