"""match against sequences: what counts as one, stars, nesting, lengths that lie, items fetched once, partial bindings."""

import collections
import collections.abc

from support import each


class Registered:
    def __init__(self, items, length=None):
        self.items, self.length, self.log = items, length, []

    def __len__(self):
        self.log.append("len")
        return len(self.items) if self.length is None else self.length

    def __getitem__(self, i):
        self.log.append(i)
        return self.items[i]

    def __repr__(self):
        log, self.log = self.log, []
        return f"Registered{log}"


collections.abc.Sequence.register(Registered)


class Plain(Registered):
    """A subclass is one too."""


class NotOne:
    __len__ = lambda self: 2
    __getitem__ = lambda self, i: i


def shape(x):
    match x:
        case []:
            return "empty"
        case [a]:
            return "one", a
        case (a, b):
            return "two", a, b
        case [1, *rest, 9]:
            return "from 1 to 9", rest
        case [[a, b], *_, [c, *d]]:
            return "pairs", a, b, c, d
        case [*_, "end"]:
            return "to the end"
        case [a, b, *c] if a == b:
            return "twins", a, c
        case [*all]:
            return "all", all
    return "no sequence"


def partial(x):
    a = b = "unbound"
    match x:
        case [a, [b, 5]]:
            return "matched", a, b
        case [a, *b] if False:
            pass
    return a, b


def seen(x):
    return shape(x), x


each(shape, *[(x,) for x in ([], (), [1], (1, 2), [1, 2, 9], [1, 9, 9, 9], [[1, 2], [3]], [[1, 2], 0, (3, 4, 5)], ["a", "b", "end"], [7, 7, 8], [7, 8, 9],
                             "ab", b"ab", bytearray(b"ab"), {1: 2, 3: 4}, {1, 2}, range(3), range(0), collections.deque([1, 2]), memoryview(b"xy"),
                             iter([1, 2]), 5, None, NotOne(), collections.namedtuple("P", "x y")(3, 4))])
each(seen, *[(x,) for x in (Registered([1, 2]), Registered([1, 2, 3, 9]), Registered([1], 2), Plain([]), Registered([5, 6, "end"]), Registered([1, 2], -1))])
each(partial, ([1, [2, 5]],), ([1, [2, 6]],), ([3],), ([],), (4,))
