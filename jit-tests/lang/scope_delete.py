"""del of locals, globals, cells, attributes and items; using what was deleted; in loops and branches; nested targets; own __delattr__."""

from support import each, hot

counter = 0
name = "global"


class Attributes:
    """Says what is deleted."""

    def __init__(self):
        self.deleted = []
        self.x = 1

    def __delattr__(self, attribute):
        if attribute == "refused":
            raise AttributeError("refused")
        self.deleted.append(attribute)

    def __delitem__(self, key):
        self.deleted.append(key)


def maybe(flag, x):
    if flag:
        del x
    return x


def in_loop(n):
    out = []
    for i in range(n):
        try:
            out.append(kept)
            del kept
        except UnboundLocalError:
            out.append("unbound")
            if i % 3:
                kept = i
    return out


def twice():
    x = [1]
    del x
    del x


def globals_deleted(n):
    global name
    out = []
    for i in range(n):
        if i % 2:
            del name
            try:
                name
            except NameError as error:
                out.append(str(error))
            name = i
        out.append(name)
    return out


def missing_global():
    global never_there
    del never_there


def builtin_again():
    global len
    len = lambda x: "shadow"
    a = len([1])
    del len
    return a, len([1])


def cell(flag):
    x = 1
    def look():
        return x
    def drop():
        nonlocal x
        del x
    if flag:
        drop()
        if flag > 1:
            drop()
    return look()


def attributes(a, attribute):
    del a.first, a["k"], (a[1], [a.last])
    delattr(a, attribute)
    return a.deleted, a.x


def items(d, k):
    del d[k]
    return d


class Plain:
    pass


def plain_attribute(make, attribute):
    p = make()
    p.x = 1
    delattr(p, attribute)
    del p.x
    return vars(p)


each(maybe, (False, 1), (True, 1))
hot(in_loop, 9)
hot(twice)
hot(globals_deleted, 4)
hot(missing_global)
hot(builtin_again)
each(cell, (0,), (1,), (2,))
each(lambda a: attributes(Attributes(), a), ("other",), ("refused",), (5,))
each(lambda d, k: items(d.copy(), k), ({"a": 1}, "a"), ({"a": 1}, "b"), ([1, 2], 0), ([1, 2], 5), ({}, []))
each(items, ((1, 2), 0), ("ab", 0), (5, 0), (None, 0))
each(plain_attribute, (Plain, "y"), (Plain, "x"), (Plain, "__class__"), (int, "real"), (Plain, "__dict__"))
