"""list, tuple, dict, set, str, bool, bytes as calls: from every kind of source, of sources that raise midway, classes subclassed and replaced."""

import builtins

from support import each, hot


class Iter:
    def __init__(self, n, error=None, hint=None):
        self.n, self.error, self.hint = n, error, hint

    def __iter__(self):
        for i in range(self.n):
            yield i
        if self.error:
            raise self.error

    def __length_hint__(self):
        if isinstance(self.hint, Exception):
            raise self.hint
        return NotImplemented if self.hint is None else self.hint


class Sub(list):
    def __iter__(self):
        return iter("sub")


class TupleSub(tuple):
    def __new__(cls, *args):
        return super().__new__(cls, args)


class DictLike:
    def keys(self):
        return iter("ab")

    def __getitem__(self, key):
        return key + key


class ShownOdd:
    def __str__(self):
        return 5


def convert(kind, *args):
    r = kind(*args)
    return type(r).__name__, sorted(r) if isinstance(r, set) else r


def empty():
    return list(), tuple(), dict(), set(), str(), bytes(), int(), float(), bool(), complex(), frozenset()


def keywords():
    return dict(a=1, b=2), dict([("a", 1)], a=2), str(b"x", encoding="ascii"), int("11", base=2), sorted([2, 1], reverse=True), list(range(3))


def wrong(how):
    if how == 0:
        return list(1, 2)
    if how == 1:
        return tuple(a=1)
    if how == 2:
        return dict(1)
    if how == 3:
        return set([[]])
    if how == 4:
        return str(b"x", "ascii", "strict", 1)
    if how == 5:
        return bool(1, 2)
    if how == 6:
        return str(ShownOdd())
    if how == 7:
        return dict(**{"a": 1}, **{"a": 2})
    return list(x=1)


def same(t, s):
    return tuple(t) is t, list(t) is t, str(s) is s, frozenset({1}) == {1}, bool([]) is False, int(True) is True


def replaced(n):
    out = []
    for i in range(n):
        if i == n - 3:
            builtins.list = lambda x: ("mine", x)
        out.append(list("ab"))
    builtins.list = saved
    return out[-4:]


saved = list
for kind in (list, tuple, set, frozenset):
    each(lambda *a: (lambda r: (r[0], sorted(r[1], key=str) if isinstance(r[1], frozenset) else r[1]))(convert(kind, *a)), ("ab",), ([1, 2],), ((3,),), ({5: 6},), (range(3),), (Iter(2),), (Iter(2, KeyError("midway")),), (Iter(1, None, 10),), (Iter(1, None, -1),), (Iter(1, None, "x"),),
         (Iter(1, None, OSError("hint")),), (5,), (None,), (Sub([1]),), (map(int, ["1", "x"]),), (iter(()),), times=31)
each(lambda a: convert(dict, a), ([(1, 2)],), ({"a": 1},), (DictLike(),), ([[1, 2], "ab"],), ([1],), ([(1,)],), (Iter(1),), (5,), ("ab",), times=31)
hot(empty)
hot(keywords)
each(wrong, *[(i,) for i in range(9)], times=31)
hot(same, (1, 2), "text")
hot(lambda: TupleSub(1, 2) + (3,))
print(replaced(60), list("x"))
