"""Loops that unpack the items of `enumerate`, `zip` and of dicts' items."""

import collections
import sys


def numbered(xs, n):
    total = 0
    for _ in range(n):
        for i, x in enumerate(xs):
            total += i * 2 + x
    return total


def numbered_from(xs, start):
    found = []
    for i, x in enumerate(xs, start):
        found.append((i, x))
    return found


def paired(xs, ys, n):
    total = 0
    for _ in range(n):
        for x, y in zip(xs, ys):
            total += x * y
    return total


def tripled(xs, ys, zs):
    found = []
    for x, y, z in zip(xs, ys, zs):
        found.append((z, y, x))
    return found


def items_of(d, n):
    found = []
    for _ in range(n):
        found = []
        for k, v in d.items():
            found.append((v, k))
    return found


xs = list(range(40))
for n in (1, 50, 400):
    print(numbered(xs, n), numbered(tuple(xs), n), paired(xs, xs[5:], n), paired(tuple(xs), xs, n))
    print(numbered((i for i in xs), n), numbered({1: 2, 3: 4}, n), numbered(range(9), n))
    print(items_of({"a": 1, "b": 2}, n), items_of({1: "x", (2, 3): "y"}, n))
for start in (0, 7, -3, True, 2**62 - 5, 2**62, sys.maxsize - 1, sys.maxsize, 2**70):
    print(numbered_from("abcd", start), numbered_from(list("abcd"), start))
for _ in range(300):
    tripled([1, 2], [3, 4], [5, 6])
print(tripled([1, 2, 3], (4, 5), "xyz"), tripled([], [1], [2]), tripled([1], [2, 3], [4, 5]))


def tried(function, *args):
    try:
        return function(*args)
    except Exception as e:
        return type(e).__name__, str(e), e.__traceback__.tb_next.tb_lineno


# Other numbers of items than the loop unpacks.
def three_of(pairs):
    found = []
    for a, b, c in pairs:
        found.append((a, b, c))
    return found


def one_of(singles):
    found = []
    for (a,) in singles:
        found.append(a)
    return found


for _ in range(300):
    three_of(zip([1], [2], [3])), one_of(zip([1, 2]))
for pairs in (
    zip([1], [2]),
    zip([1], [2], [3], [4]),
    enumerate([1]),
    {1: 2}.items(),
    zip([1, 2], [3, 4], [5, 6], strict=True),
    zip([1, 2], [3], [5, 6], strict=True),
    zip([1], [3], [5, 6], strict=True),
    zip(),
    [(1, 2, 3)],
):
    print(tried(three_of, pairs))
print(tried(one_of, zip([1, 2])), tried(one_of, zip([1], [2])), tried(one_of, enumerate([1])))


# The containers change while the loop runs.
def grow(xs, stop):
    seen = 0
    for i, x in enumerate(xs):
        if len(xs) < stop:
            xs.append(x + 1)
        seen += i
    return seen, len(xs)


def shrink(xs):
    seen = []
    for i, x in enumerate(xs):
        seen.append(x)
        if i % 2:
            xs.pop()
    return seen, xs


def cleared(xs, ys):
    seen = []
    for x, y in zip(xs, ys):
        seen.append((x, y))
        if len(seen) == 3:
            ys.clear()
    return seen


for _ in range(200):
    result = grow([0], 30), shrink(list(range(12))), cleared(list(range(9)), list(range(9)))
print(*result)


def resized(d, step):
    seen = []
    for k, v in d.items():
        seen.append(k)
        if len(seen) == 2:
            step(d)
    return seen


def fresh():
    return {k: k for k in "abcde"}


def swap_last(d):
    del d["e"]
    d["f"] = 1


steps = (
    lambda d: None,
    lambda d: d.update(z=1),
    lambda d: d.pop("a"),
    swap_last,
    lambda d: d.update(c="changed"),
    lambda d: d.clear(),
)
for _ in range(120):
    results = [tried(resized, fresh(), step) for step in steps]
print(*results, sep="\n")
holes = {i: i for i in range(12)}
for k in (0, 3, 4, 5, 11):
    del holes[k]
print(items_of(holes, 300))


class Instance:
    def __init__(self, a):
        self.a = a
        self.b = 2


class Sub(dict):
    def items(self):
        return [("own", 1)]


for d in (Instance(1).__dict__, vars(Instance), Sub(x=1), collections.OrderedDict(p=1, q=2)):
    print([pair for pair in items_of(d, 60) if not str(pair[1]).startswith("__")])
print(items_of(dict.items(Sub(x=1)).mapping, 3), items_of(collections.Counter("hello"), 30))


# The iterator is used behind the loop, and inside it.
def behind(xs):
    e = enumerate(xs)
    for i, x in e:
        if x == 3:
            break
    rest = next(e)
    for i, x in e:
        rest += (i, x)
    return rest, list(e)


def inside(xs):
    z = zip(xs, xs[1:])
    seen = []
    for a, b in z:
        seen.append((a, b, next(z, None)))
    return seen


def inner(d):
    it = iter(d.items())
    seen = []
    for k, v in it:
        seen.append((k, v, next(it, None)))
    return seen


for _ in range(200):
    result = behind(list(range(7))), inside(list(range(6))), inner(fresh())
print(*result)


# One iterator twice, and iterators that others advance.
def grouped(xs, n):
    found = []
    for _ in range(n):
        it = iter(xs)
        found = []
        for a, b in zip(it, it):
            found.append((a, b))
    return found


def grouped_by_three(z):
    found = []
    for a, b, c in z:
        found.append(a + b + c)
    return found


def shared(xs):
    it = iter(xs)
    found = []
    for i, x in enumerate(it):
        found.append((i, x, next(it, None)))
    for x, y in zip(it, xs):
        found.append((x, y))
    it = iter(xs)
    for x, y in zip(xs[:2], it):
        found.append((x, y))
    return found, list(it)


for n in (1, 40, 300):
    print(grouped([1, 2, 3, 4, 5], n), grouped((1, 2, 3), n), grouped([1], n), grouped([], n))
for _ in range(300):
    one = iter(range(8)), iter(list(range(8)))
    result = [grouped_by_three(zip(it, it, it)) for it in one], shared(list(range(5)))
    grouped_by_three(zip([1, 2], [3, 4], [5, 6]))
print(result, grouped_by_three(zip(*[iter([1, 2, 3, 4])] * 3)))


def tried_loop(xs, ys):
    found = []
    try:
        for i, x in enumerate(xs):
            found.append(i)
            for a, b in zip(ys, xs):
                found.append(a // b)
    except ZeroDivisionError as e:
        found.append(str(e))
    except TypeError:
        found.append("type")
    return found


for _ in range(200):
    result = tried_loop([1, 2], [3, 4]), tried_loop([1, 0], [3, 4]), tried_loop(None, [1])
print(result)


# Types that the loop did not expect, and errors in its body.
def mixed(xs, ys):
    total = 0
    for i, (x, y) in enumerate(zip(xs, ys)):
        total = total + i + x * y
    return total


for _ in range(200):
    mixed([1, 2], [3, 4])
print(mixed([1.5, 2], [2, "ab"][:1]), tried(mixed, [1, "a"], [2, None]))


def caught(xs):
    bad = 0
    for i, x in enumerate(xs):
        try:
            10 // x
        except ZeroDivisionError:
            bad += i
        finally:
            bad += 1
    return bad


print(caught([1, 0, 2] * 200))


# Each item is dropped when the loop is done with it.
class Item:
    live = 0

    def __init__(self):
        Item.live += 1

    def __del__(self):
        Item.live -= 1


def lives(n):
    most = 0
    for i, item in enumerate([Item() for _ in range(n)]):
        most = max(most, Item.live)
    return most, Item.live


print(lives(50), Item.live)


def last_of(pairs):
    for a, b in pairs:
        pass
    return a, b


def empty_loops(n):
    seen = 0
    for _ in range(n):
        for i, x in enumerate([]):
            seen += 1
        for k, v in {}.items():
            seen += 1
    return seen


for _ in range(200):
    result = last_of(enumerate("xyz")), last_of({1: 2, 3: 4}.items()), empty_loops(5)
print(result)
