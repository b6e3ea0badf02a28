"""Weak references and finalisers around hot code: when objects die, callbacks, resurrection, cycles, weak containers, order at the end."""

import gc
import weakref

from support import hot

log = []


class Noted:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


class Lazarus:
    kept = []

    def __del__(self):
        Lazarus.kept.append(self)
        log.append("resurrected")


def dies(n):
    log.clear()
    for i in range(n):
        o = Noted(i)
        r = weakref.ref(o, lambda r, i=i: log.append(("callback", i)))
        if i == 1:
            del o
            log.append(("gone", r() is None))
    return list(log), r() is not None


def reassigned():
    log.clear()
    o = Noted("first")
    o = Noted("second")
    log.append("after")
    o = [Noted("in list")]
    o[0] = None
    log.append("replaced")
    return list(log)


def temporaries():
    log.clear()
    x = Noted("a").name + Noted("b").name
    log.append("added")
    y = [Noted("c"), Noted("d")][0].name
    log.append("indexed")
    z = (lambda n: n.name)(Noted("e"))
    log.append("called")
    if Noted("f"):
        log.append("tested")
    return x + y + z, list(log)


def raised():
    log.clear()
    def inner():
        o = Noted("inner")
        raise ValueError(o.name)
    try:
        inner()
    except ValueError as error:
        log.append("handler")
    log.append("after")
    return list(log)


def resurrected():
    log.clear()
    Lazarus.kept.clear()
    o = Lazarus()
    r = weakref.ref(o)
    del o
    alive = len(Lazarus.kept), r() is None
    Lazarus.kept.clear()
    return alive, list(log)


def cycles():
    log.clear()
    a, b = Noted("a"), Noted("b")
    a.other, b.other = b, a
    refs = [weakref.ref(a), weakref.ref(b)]
    del a, b
    before = [r() is None for r in refs]
    gc.collect()
    return before, [r() is None for r in refs], sorted(log)


def containers():
    log.clear()
    d, k, s = weakref.WeakValueDictionary(), weakref.WeakKeyDictionary(), weakref.WeakSet()
    o = Noted("o")
    d["x"], k[o] = o, 1
    s.add(o)
    sizes = len(d), len(k), len(s)
    del o
    return sizes, len(d), len(k), len(s), list(log)


def methods():
    log.clear()
    o = Noted("o")
    bound = o.__del__
    w = weakref.WeakMethod(o.__del__)
    p = weakref.proxy(o)
    name = p.name
    del o, bound
    try:
        p.name
    except ReferenceError as error:
        return name, w() is None, str(error), list(log)


def finalised():
    log.clear()
    o = Noted("o")
    f = weakref.finalize(o, log.append, "finalised")
    alive = f.alive
    del o
    return alive, f.alive, f(), list(log)


def in_generator():
    log.clear()
    def g():
        o = Noted("local")
        try:
            yield 1
        finally:
            log.append("finally")
    it = g()
    next(it)
    del it
    return list(log)


gc.disable()
for function in (reassigned, temporaries, raised, resurrected, cycles, containers, methods, finalised, in_generator):
    hot(function, times=60)
hot(dies, 3, times=60)
