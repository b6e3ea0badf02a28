"""__getattr__ and __getattribute__: when each is asked, errors in them, delegation, module __getattr__, added and removed while hot."""

import sys

from support import each, hot

log = []


class Get:
    cls = "class"

    def __init__(self):
        self.here = 1

    def __getattr__(self, name):
        log.append(name)
        if name == "fails":
            raise LookupError(name)
        if name.startswith("no"):
            raise AttributeError(f"not {name}")
        return name * 2


class All:
    def __init__(self):
        self.here = 1

    def __getattribute__(self, name):
        log.append(name)
        if name == "stop":
            raise AttributeError("stopped")
        if name == "fails":
            raise ZeroDivisionError("stopped")
        return object.__getattribute__(self, name)

    def method(self):
        return self.here


class Both(All):
    def __getattr__(self, name):
        log.append(f"then {name}")
        return "second"


class Delegates:
    def __init__(self, target):
        self.__dict__["target"] = target

    def __getattr__(self, name):
        return getattr(self.target, name)

    def __setattr__(self, name, value):
        setattr(self.target, name, value)


def reads(o):
    log.clear()
    return o.here, o.other, list(log)


def each_name(o, name):
    log.clear()
    if name == "here":
        return o.here, list(log)
    if name == "fails":
        return o.fails
    if name == "stop":
        return o.stop
    if name == "nothing":
        return o.nothing
    return str(getattr(o, name, "default"))[:40], hasattr(o, name), list(log)


def calls(o):
    log.clear()
    return o.method(), list(log)


def delegated(n):
    d = Delegates(Delegates(Get()))
    d.here = n
    return d.here, d.cls, d.other, d.append if False else None, getattr(d, "nope", "default")


def added(n):
    class Late:
        x = 1
    o = Late()
    out = []
    for i in range(n):
        if i == n - 4:
            Late.__getattr__ = lambda self, name: f"added {name}"
        if i == n - 2:
            Late.__getattribute__ = lambda self, name: f"all {name}"
        if i == n - 1:
            del Late.__getattr__, Late.__getattribute__
        try:
            out.append((o.x, o.y))
        except AttributeError as error:
            out.append(str(error))
    return out[-6:]


def __getattr__(name):
    if name == "dynamic":
        return "from the module"
    raise AttributeError(f"module says no {name}")


def module(m, name):
    return m.dynamic, getattr(m, name)


for o in (Get(), All(), Both()):
    each(reads, (o,), times=40)
    each(lambda name: each_name(o, name), ("here",), ("fails",), ("stop",), ("nothing",), ("cls",), ("__doc__",), times=40)
    hot(calls, o)
hot(delegated, 3)
hot(added, 60, times=3)
each(lambda name: module(sys.modules[__name__], name), ("dynamic",), ("__name__",), ("absent",))
