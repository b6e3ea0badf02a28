"""Keyword arguments from mappings: order, duplicates, keys that are no strings, user mappings that raise, string subclasses."""

from support import each


def take(**kwargs):
    return list(kwargs.items())


def named(a, b=5, **rest):
    return a, b, rest


def merged(x, y):
    return take(first=1, **x, middle=2, **y)


def forwarded(m):
    return named(**m)


class Mapping:
    def __init__(self, keys, fail=None):
        self.names = keys
        self.fail = fail

    def keys(self):
        return self.names

    def __getitem__(self, key):
        if key == self.fail:
            raise LookupError(key)
        return len(key)


class Str(str):
    def __hash__(self):
        return str.__hash__(self)

    def __eq__(self, other):
        return str.__eq__(self, other)


class NoKeys:
    def __getitem__(self, key):
        return 1


def kept_apart(m):
    got = named(a=1, **m)[2]
    got["added"] = 1
    return got is m, sorted(m), sorted(got)


x = {"p": 1, "q": 2}
each(merged, (x, {}), (x, {"r": 3}), (x, {"q": 3}), ({"first": 0}, x), ({1: 2}, {}), (Mapping(["k", "ll"]), {}),
     (Mapping(["k", "ll"], "ll"), {}), (Mapping(3), {}), (NoKeys(), {}), (None, x), ([("a", 1)], {}), ({Str("sub"): 1}, {}))
each(forwarded, ({"a": 1},), ({"b": 1},), ({"a": 1, "b": 2, "c": 3},), ({"".join(["a"]): 9, Str("b"): 8},), (5,), ({None: 1, "a": 2},))
each(kept_apart, ({"c": 1},), ({},), ({"a": 3},))
