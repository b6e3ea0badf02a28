"""Instances that die in compiled code, whose memory the next ones get: nothing of an earlier life may be seen."""

import abc
import gc
import weakref


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Derived(Slotted):
    def __init__(self, a):
        self.a = a
        self.c = a + 1


class Node:
    def __init__(self, next):
        self.next = next


class Said:
    log = []

    def __init__(self, name):
        self.name = name

    def __del__(self):
        Said.log.append(self.name)


def churn(n):
    total = 0
    kept = [None]
    for i in range(n):
        kept[0] = Point(i, [i])
        total += kept[0].x + len(kept[0].y)
    return total


def missing(n):
    """An attribute that an earlier instance had is not there in the next one."""
    found = 0
    kept = [None]
    for i in range(n):
        p = Slotted(i)
        kept[0] = p
        if i % 2:
            p.b = i
        try:
            found += p.b
        except AttributeError:
            found -= 1
        del p
        kept[0] = None
    return found


def both(n):
    total = 0
    kept = [None]
    for i in range(n):
        kept[0] = Derived(i)
        total += kept[0].a + kept[0].c + len(kept[0].__dict__)
        kept[0] = Derived(-i)
    return total


def grown(n):
    """More attributes in one instance than in the others, deleted ones, and a dict of its own."""
    total = 0
    kept = [None]
    for i in range(n):
        p = Point(i, i)
        kept[0] = p
        if i % 3 == 0:
            p.z = i
        if i % 5 == 0:
            del p.x
        if i % 7 == 0:
            vars(p)["w"] = i
        total += len(vars(p)) if i % 11 == 0 else hasattr(p, "z") + hasattr(p, "x") + hasattr(p, "w")
        del p
    return total


def weakly(n):
    called, alive = [], 0
    kept = [None]
    for i in range(n):
        p = Point(i, i)
        kept[0] = p
        ref = weakref.ref(p, lambda r, i=i: called.append(i)) if i % 4 == 0 else None
        del p
        kept[0] = None
        alive += ref is not None and ref() is not None
    return len(called), sum(called), alive


def chained(n):
    head = None
    for _ in range(n):
        head = Node(head)
    kept = [head]
    del head
    kept[0] = None
    return len(kept)


def dropped_in_order(n):
    Said.log.clear()
    kept = [None]
    for i in range(n):
        kept[0] = Point(Said(i), Said(-i))
    kept[0] = None
    return Said.log[:6], Said.log[-6:], len(Said.log)


def cyclic(n):
    kept = [None]
    for i in range(n):
        p = Point(None, i)
        p.x = p
        kept[0] = p
        del p
    kept[0] = None
    gc.collect()
    return sum(isinstance(o, Point) for o in gc.get_objects())


def tracked(n):
    kept = [None]
    seen = 0
    for i in range(n):
        kept[0] = Point(i, i)
        seen += gc.is_tracked(kept[0])
    return seen


class Later:
    def __init__(self, x):
        self.x = x


def later(n):
    kept = [None]
    for i in range(n):
        kept[0] = Later(i)
    kept[0] = None
    return n


def changed(n):
    """A finaliser that the class gets when its instances are already there, and their memory is kept."""
    print(later(n))
    log = []
    Later.__del__ = lambda self: log.append(self.x)
    print(later(5), log)
    del Later.__del__
    print(later(5), log)


class Abstract(abc.ABC):
    def __init__(self):
        self.x = 1


def abstract(n):
    kept = [None]
    total = 0
    for _ in range(n):
        kept[0] = Abstract()
        total += kept[0].x
    return total


def another_class(n):
    """Classes that die with the memory that is kept for them."""
    total = 0
    for k in range(20):
        names = {}
        exec(f"class C:\n def __init__(self, x): self.x = x; self.k{k} = x\n"
             "def f(n):\n kept = [None]\n t = 0\n for i in range(n):\n  kept[0] = C(i); t += kept[0].x\n return t", names)
        total += names["f"](n)
        del names
        gc.collect()
    return total


def moved(n):
    """An instance whose class is another one when it dies."""
    kept = [None]
    total = 0
    for i in range(n):
        p = Point(i, i)
        kept[0] = p
        if i % 3 == 0:
            p.__class__ = Later
        total += type(p) is Point
        del p
    return total


def resurrecting(n):
    """A value that is alive again when the instance that had it has died."""
    saved = []

    class Back:
        def __del__(self):
            saved.append(self)

    kept = [None]
    for i in range(n):
        kept[0] = Point(Back(), i)
    kept[0] = None
    return len(saved), all(type(o) is Back for o in saved)


for run in range(3):
    print(churn(3000), missing(3000), both(3000), grown(3000), weakly(3000))
    print(chained(200_000), dropped_in_order(1000), cyclic(1000), tracked(3000))
    print(another_class(300), moved(3000), resurrecting(300))
changed(3000)
print(abstract(3000))
Abstract.__abstractmethods__ = frozenset(["f"])
try:
    abstract(3)
except TypeError as e:
    print("TypeError", e)
