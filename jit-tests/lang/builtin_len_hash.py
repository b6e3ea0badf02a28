"""len, hash, id, repr, callable, type: of users' objects that answer wrongly, of builtins, replaced while hot, with wrong arguments."""

import builtins

from support import each, hot


class Len:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        if isinstance(self.n, Exception):
            raise self.n
        return self.n

    def __hash__(self):
        if isinstance(self.n, Exception):
            raise self.n
        return self.n

    def __repr__(self):
        return self.n if isinstance(self.n, str) else "Len"

    def __call__(self):
        return 1


class Instance:
    def __init__(self):
        self.__len__ = lambda: 5
        self.__call__ = lambda: 5


def length(x):
    return len(x)


def hashed(x):
    return hash(x) == hash(x), x in {x: 1}


def shown(x):
    return repr(x), str(x), ascii(x)


def kind(x):
    return type(x).__name__, callable(x), type(x) is type(x), isinstance(x, type)


def made(name, bases, space):
    t = type(name, bases, space)
    return t.__name__, t().x, t.__mro__[1].__name__


def total(items):
    n = 0
    for x in items:
        n += len(x)
    return n


def replaced(n):
    out = []
    try:
        for i in range(n):
            if i == n - 4:
                builtins.len = lambda x: "replaced"
            if i == n - 2:
                builtins.len = saved
            out.append(len((1, 2)))
    finally:
        builtins.len = saved
    return out[-6:]


def removed(n):
    out = []
    for i in range(n):
        if i == n - 3:
            del builtins.len
        try:
            out.append(len("ab"))
        except NameError as error:
            out.append(str(error))
            builtins.len = saved
    return out[-4:]


saved = len
each(length, *[(x,) for x in ("ab", b"a", [1], (), {1: 2}, {1}, range(5), range(10**18), range(2**70), Len(3), Len(-1), Len(2**70), Len("x"), Len(1.5), Len(True), Len(KeyError("len")), Instance(), 5, None, bytearray(2), memoryview(b"abc"), {}.keys(), len)], times=32)
each(hashed, *[(x,) for x in (1, "a", 1.5, (1, (2,)), None, Len(7), Len(2**70), Len(-1), Len(1.5), Len(OSError("hash")), [], {}, ([],), slice(1), frozenset([1]))], times=32)
each(shown, *[(x,) for x in ("a'b", "ä\n", 1.0, [1, "x"], {"k": (1,)}, Len("own"), Len(5), None, True, ..., NotImplemented, {1}, b"\xff", 10**20)], times=32)
each(kind, *[(x,) for x in (1, Len, Len(1), Instance(), len, lambda: 1, None, "a")], times=32)
each(made, ("T", (), {"x": 1}), ("T", (int,), {"x": 2}), ("T", (bool,), {}), (5, (), {}), ("T", 5, {}), ("T", (), 5), ("T", (int, str), {}), times=32)
each(total, (["a", (1, 2), {}],), ([[]] * 50,), (["a", 5],))
print(replaced(80), replaced(80))
print(removed(80), removed(80), len("abc"))
