"""The old sequence protocol: __getitem__ with IndexError, StopIteration or another error, items that change, endless ones, iter() of two."""

from support import each, hot


class Seq:
    def __init__(self, n, error=IndexError):
        self.n, self.error, self.asked = n, error, 0

    def __getitem__(self, i):
        self.asked += 1
        if i >= self.n:
            raise self.error(i)
        return i * i


class Shrinking:
    def __init__(self):
        self.items = [1, 2, 3, 4, 5, 6]

    def __getitem__(self, i):
        value = self.items[i]
        self.items.pop()
        return value


class NotSubscript:
    __getitem__ = None


class NoIter:
    __iter__ = None

    def __getitem__(self, i):
        return i


def loop(s):
    total = []
    for x in s:
        total.append(x)
        if len(total) > 20:
            break
    else:
        total.append("else")
    return total


def other_uses(s):
    a, *b = s
    return list(s), tuple(s), max(s), sum(s), 4 in s, [*s, a], {x for x in s} == set(s), sorted(s, reverse=True), b, dict(zip(s, s))


def resumed(n):
    s = Seq(n)
    it = iter(s)
    first = [next(it), next(it)]
    s.n += 2
    rest = list(it)
    s.n += 2
    return first, rest, list(it), next(it, "ended"), type(it).__name__


def until(values, sentinel):
    it = iter(values)
    out = []
    for x in iter(lambda: next(it), sentinel):
        out.append(x)
    return out, list(it)


def called(n):
    state = [0]
    def step():
        state[0] += 1
        if state[0] > n:
            raise KeyError(n)
        return state[0]
    it = iter(step, 3)
    return [*it], state, list(it)


each(loop, (Seq(4),), (Seq(0),), (Seq(3, StopIteration),), (Seq(3, KeyError),), (Seq(100),), (Shrinking(),), (NotSubscript(),), (NoIter(),), (object,))
each(other_uses, (Seq(3),), (Seq(0),), (Seq(5, StopIteration),))
hot(resumed, 3)
each(until, ((1, 2, 3, 4), 3), ((1, 2), 5), ("", ""), (5, 1))
each(called, (5,), (2,), (3,))
each(lambda *a: list(iter(*a)), (5,), (5, 1), (len, 1), ("ab",), ())
