"""Unpacking: swaps, nested, starred, from iterators and user classes; too many and too few."""


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def pairs(items):
    s = 0
    for a, b in items:
        s += a * 2 + b
    return s


def nested(items):
    out = 0
    for (a, (b, c)), *rest in items:
        out += a + b + c + len(rest)
    return out


def starred(items):
    first, *middle, last = items
    return first, middle, last


def three(x):
    a, b, c = x
    return c, b, a


class Pair:
    def __init__(self, n, error=None):
        self.n = n
        self.error = error

    def __iter__(self):
        yield from range(self.n)
        if self.error:
            raise self.error


print(fibonacci(90), fibonacci(400) % 10**12)
print(pairs([(i, 1) for i in range(400)]), pairs([[1, 2.5]] * 300 + [(1, 2)]), pairs(enumerate([5] * 300)), pairs({(1, 2): 0}), pairs([Pair(2)] * 300))
print(nested([((1, (2, 3)), 4, 5)] * 350 + [((0.5, [1, 2]),)]))
print(starred(range(5)), starred("ab"), starred([1, 2, 3]), three("xyz"), three({1: 2, 3: 4, 5: 6}), three(Pair(3)))
for x in ((1, 2), [1, 2, 3, 4], "xy", 5, None, Pair(2), Pair(4), Pair(3, OSError("late")), Pair(1, KeyError("early")), {}, iter([1])):
    try:
        print(three(x))
    except (ValueError, TypeError, OSError, KeyError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
for x in ([1], []):
    try:
        starred(x)
    except ValueError as error:
        print(error)
try:
    pairs([(1, 2)] * 350 + [(1, 2, 3)])
except ValueError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)


def rotate(n):
    a, b, c, d = 1, 2.5, "x", None
    for _ in range(n):
        a, b, c, d = d, a, b, c
        [a, b] = b, a
        (c,) = (c,)
    return a, b, c, d


print(rotate(401))
x = [0, 1, 2]
i = 0
i, x[i] = 2, 9
print(i, x)
