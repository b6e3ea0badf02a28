"""The cycle collector running inside hot loops: weak references, callbacks, resurrection, finalisers in cycles."""

import gc
import weakref


class Node:
    def __init__(self, n):
        self.n = n
        self.me = self
        self.items = [self]


class Loud(Node):
    def __del__(self):
        dead.append(self.n)


class Phoenix:
    def __del__(self):
        risen.append(self)


dead = []
risen = []


def churn(n):
    s = 0
    for i in range(n):
        s += Node(i).me.n
        if i % 100 == 99:
            gc.collect()
    return s


def loud(n):
    for i in range(n):
        x = Loud(i)
        if i == n - 1:
            x = None
            gc.collect()
    return len(dead), sum(dead)


def weak(n):
    refs = []
    calls = []
    for i in range(n):
        node = Node(i)
        refs.append(weakref.ref(node, lambda r: calls.append(1)))
    gc.collect()
    alive = sum(r() is not None for r in refs)
    del node
    gc.collect()
    return alive, sum(r() is not None for r in refs), len(calls)


def collects_itself(n):
    """A collection at any allocation finds the loop's own values alive."""
    gc.set_threshold(5, 2, 2)
    keep = []
    for i in range(n):
        keep.append([i, (i, [i]), {"i": i}])
        keep = keep[-10:]
        x = [keep]
        x.append(x)
    gc.set_threshold(2000, 10, 0)
    return keep[0], len(x)


def phoenix(n):
    for i in range(n):
        p = Phoenix()
    return i


print(churn(500), loud(400), weak(300))
print(collects_itself(600))
phoenix(300)
print(len(risen), all(type(p) is Phoenix for p in risen))


class Tracked:
    def __init__(self):
        self.big = [None] * 10


def tracked(n):
    out = []
    for i in range(n):
        t = (i, [i])
        u = (i, 0.5)
        out.append((gc.is_tracked(t), gc.is_tracked([]), gc.is_tracked(1), gc.is_tracked({})))
    return len(set(out)), out[-1]


print(tracked(350))
wv = weakref.WeakValueDictionary()


def cache(n):
    hits = 0
    for i in range(n):
        k = i % 10
        if k in wv:
            hits += 1
        t = wv[k] = Tracked()
    return hits


print(cache(400), len(wv))
gc.collect()
before = len(gc.get_objects())
churn(300)
gc.collect()
print(len(gc.get_objects()) - before < 50)
gc.freeze()
print(churn(300))
gc.unfreeze()
