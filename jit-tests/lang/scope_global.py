"""global in hot code: read, changed, deleted and created by callees, builtins shadowed and uncovered, module attributes, exec'd namespaces."""

import sys

from support import each, hot

total = 0
kind = int
this = sys.modules[__name__]


def add(n):
    global total
    for i in range(n):
        total += i
    return total


def changed_by_callee(n):
    global total
    total = 0
    seen = []
    for i in range(n):
        touch(i)
        seen.append(total)
    return seen


def touch(i):
    if i == 3:
        globals()["total"] = "text"
    elif i == 5:
        this.total = 2.5
    elif i == 6:
        this.__dict__.update(total=None)
    elif i == 7:
        del this.total


def called(x):
    return kind(x)


def rebound(n):
    global kind
    out = []
    for i in range(n):
        if i == n - 6:
            kind = str
        if i == n - 4:
            kind = lambda x: [x]
        if i == n - 2:
            kind = 5
        try:
            out.append(called("1"))
        except TypeError as error:
            out.append(str(error))
    kind = int
    return out[-8:]


def shadow(n):
    out = []
    for i in range(n):
        if i == 2:
            this.abs = lambda x: "shadowed"
        if i == 4:
            del this.abs
        out.append(abs(-i))
    return out


def created(n):
    global fresh
    try:
        del fresh
    except NameError:
        pass
    out = []
    for i in range(n):
        if i == 2:
            fresh = 1
        try:
            fresh += 1
            out.append(fresh)
        except NameError as error:
            out.append(str(error))
    return out


def own_namespace(source, names):
    space = dict(names)
    exec(source, space)
    return [space["f"](i) for i in range(4)], sorted(k for k in space if k != "__builtins__")


each(add, (3,), (0,))
total = 0
print(add(100), total)
hot(changed_by_callee, 7)
hot(changed_by_callee, 8)
total = 0
hot(rebound, 60, times=3)
hot(shadow, 6)
hot(created, 4)
each(own_namespace, ("def f(i):\n    global y\n    y = x + i\n    return y", {"x": 1}), ("def f(i): return x + i", {}), ("def f(i): return len(i)", {"len": str}),
     ("def f(i): return len('a')", {"__builtins__": {"len": lambda x: "own"}}), ("def f(i): return len('a')", {"__builtins__": {}}))
