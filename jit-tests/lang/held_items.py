# Items of a tuple that a local holds are dropped without looking for what their end does, for they do not end. What ends all the same, because
# the tuple went first, or because code of the program has put something else in the local, is seen to end.

import sys

ended = []


class Loud:
    """Its end is noted."""

    def __init__(self, name, act=None):
        self.name = name
        self.act = act

    def __del__(self):
        ended.append(self.name)
        if self.act:
            self.act()


def louds(*names):
    return tuple(Loud(name) for name in names)


def unpack_in_turns(t):
    a, b, c = t
    c, b, a = t
    a, b, c = t
    b, c, a = t
    return a.name, b.name, c.name


def unpack_and_replace(t, other):
    a, b, c = t
    b, c, a = t
    t = other
    ended.append("replaced")
    a, b, c = t
    ended.append("unpacked")
    c, b, a = t
    return a.name, b.name, c.name


def item_for_tuple(t):
    a, t = t
    ended.append("inner")
    a, b = t
    b, a = t
    t = a
    ended.append("outer")
    a = b = None
    return t.name


def nested(t):
    inner, x = t
    a, b = inner
    b, a = inner
    x, inner = inner
    ended.append("loaded")
    a = None
    b = x
    return inner.name, b.name


def drop_all(t):
    a, b = t
    b, a = t
    t = None
    ended.append("tuple")
    a = None
    ended.append("a")
    b = None
    return "done"


def in_a_loop(ts):
    names = []
    for t in ts:
        a, b = t
        b, a = t
        names.append(a.name + b.name)
    return names


def looks_and_sets(t, at_end):
    a, b = t
    b, a = t
    # What ends here gives the local another object.
    x = Loud("x", at_end)
    x = a
    a = None
    b = None
    return x.name


def set_local():
    frame = sys._getframe(2)
    if frame.f_code.co_name == "looks_and_sets":
        frame.f_locals["t"] = ("other", "others")


def one_item(t, n):
    last = None
    for i in range(n):
        last = t[i % 2]
        other = last
        last = t[(i + 1) % 2]
    return last.name, other.name


def run(times):
    for i in range(times):
        print(unpack_in_turns(louds("a", "b", "c")), ended)
        ended.clear()
        print(unpack_and_replace(louds("a", "b", "c"), louds("d", "e", "f")), ended)
        ended.clear()
        print(item_for_tuple((Loud("first"), louds("a", "b"))), ended)
        ended.clear()
        print(nested((louds("a", "b"), Loud("x"))), ended)
        ended.clear()
        print(drop_all(louds("a", "b")), ended)
        ended.clear()
        print(in_a_loop([louds("a", "b"), louds("c", "d")]), ended)
        ended.clear()
        print(one_item(louds("a", "b"), 7), ended)
        ended.clear()
        print(looks_and_sets(louds("a", "b"), set_local if i > times - 3 else None), ended)
        ended.clear()


run(60)
