"""enumerate, zip, reversed, map and filter in hot loops: starts, uneven lengths, strict, protocols, half-used ones, errors from within."""

from support import each, hot


class Fails:
    def __init__(self, n, error):
        self.n, self.error = n, error

    def __iter__(self):
        for i in range(self.n):
            yield i
        raise self.error


class Reversible:
    def __reversed__(self):
        return iter("own")


class Sequence:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == 2:
            raise LookupError("two")
        return i * 10


def enumerated(items, start):
    s = []
    for i, x in enumerate(items, start):
        s.append((i, x))
    for pair in enumerate(items, start=start):
        s.append(pair)
    return s


def zipped(a, b, strict):
    out = []
    for x, y in zip(a, b, strict=strict):
        out.append((x, y))
    return out


def zips(a):
    it = iter(a)
    return list(zip(it, it)), list(zip()), list(zip(a)), list(zip(*zip(a, a))), [t for t in zip(a, range(9), "xyz")]


def left_over(a, b):
    x, y = iter(a), iter(b)
    pairs = [(p, q) for p, q in zip(x, y)]
    return pairs, list(x), list(y)


def backwards(s):
    out = []
    for x in reversed(s):
        out.append(x)
    return out


def mapped(f, *iterables):
    return list(map(f, *iterables))


def filtered(f, items):
    return [x for x in filter(f, items)], list(filter(None, items))


each(enumerated, ("ab", 0), ([1], 5), ((), 1), ("ab", -1), ("ab", 2**63 - 2), ("ab", 2**70), (5, 0), ("a", "x"), (Fails(1, KeyError("it")), 0))
each(zipped, *[(a, b, strict) for strict in (False, True) for a, b in (("ab", (1, 2)), ("abc", (1, 2)), ("a", (1, 2)), ((), ()), (Fails(1, OSError("a")), "xyz"), ("xyz", Fails(1, OSError("b"))), (5, "a"))], times=40)
each(zips, ((1, 2, 3, 4),), ("abcde",), ((),), (5,))
each(left_over, ((1, 2, 3), "ab"), ("ab", (1, 2, 3)), (Fails(3, ValueError("x")), "ab"))
each(backwards, ("abc",), ((1, 2),), ([],), (range(4),), ({"a": 1, "b": 2},), (Reversible(),), (Sequence(2),), (Sequence(4),), ({1},), (5,), (iter([1]),), (b"ab",))
each(mapped, (str, (1, 2)), (lambda a, b: a + b, (1, 2, 3), (4, 5)), (len, ("a", 5)), (5, (1,)), (max, (1, 5), (3, 2)), (int, "12x"), (lambda: 1, (1,)))
each(filtered, (lambda x: x > 1, (0, 1, 2)), (bool, (0, "", "a")), (lambda x: 1 / x, (1, 0)), (5, (1,)))
hot(lambda n: [next(e) for e in [enumerate("abcdef")] for _ in range(n)], 3)
hot(lambda n: [next(e) for e in [enumerate("ab")] for _ in range(n)], 3)
