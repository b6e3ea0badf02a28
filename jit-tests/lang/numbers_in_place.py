"""Numbers that take the place of numbers: in lists and attributes, where others have the old one as well, and where nobody has."""

import sys


class Plain:
    def __init__(self, value):
        self.value = value
        self.other = value
        self.count = 0

    def add(self, n):
        self.value += n
        if self.value > 1000:
            self.other = self.value

    def both(self, n):
        self.value = self.other = self.value + n

    def keeps(self, n):
        old = self.value
        self.value = old + n
        return old, self.value

    def twice(self, n):
        self.value += n
        self.value += n
        self.count += 1
        return self.value


class Slots:
    __slots__ = ("value", "other", "count", "log")

    def __init__(self, value):
        self.value = self.other = value
        self.count = 0
        self.log = []

    add, both, keeps, twice = Plain.add, Plain.both, Plain.keeps, Plain.twice


def scale(items, by):
    for i in range(len(items)):
        items[i] = items[i] * by


def shift(items, n):
    for i in range(len(items)):
        items[i] += n


def swap_in(items, i, n):
    # The old one lives on in a local, and then in another place.
    old = items[i]
    items[i] = old + n
    items[i - 1] = old
    return old


def three(items, n):
    items[0] += n
    items[1] -= n
    items[0] += n
    items[2] = items[0] + items[1]
    return items[0], items[1]


def fails(items, n):
    items[0] += n
    items[1] = items[1] / (n - n % 7)
    items[0] += n
    return items


def running(items, n):
    for i in range(len(items)):
        items[i] = items[i] + n
        yield items[i], items


def histogram(data, size):
    counts = [0] * size
    for d in data:
        counts[d % size] += 1
    return counts


def held(items, index, n):
    before = items[index]
    items[index] += n
    # From 3.14 on, the argument of this call is no reference.
    return before, items[index], sys.getrefcount(before) > (2 if sys.version_info < (3, 14) else 1)


def show(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e).__name__, str(e)


def numbers():
    return [0, 5, 255, 256, 257, -5, -6, -300, 70000, (1 << 30) - 1, 1 << 30, -(1 << 30) + 1, 1 << 62, 10**30, True, 0.5, -0.0, 1e308, float("nan")]


shared = [k * 1.5 + 300 for k in range(4)] + [k + 1000 for k in range(4)]
answers = []
for turn in range(160):
    now = []
    for make in (Plain, Slots):
        for start in (300, 250, -2, 1.5, (1 << 30) - 3):
            o = make(start)
            alias = o.value
            for n in (1, 3, -4, 700):
                o.add(n)
                now.append(o.keeps(n))
                o.both(n)
                now.append(o.twice(n))
            now.append((o.value, o.other, o.count, alias == start, o.value is o.other))
    items = [k * 10.5 for k in range(6)]
    same = items[2]
    items.append(same)
    scale(items, 1.5)
    scale(items, 2)
    shift(items, 0.25)
    now.append((items, same))
    ints = [k * 100 + 290 for k in range(6)] + [290, 290]
    first = tuple(ints)
    shift(ints, 7)
    scale(ints, 3)
    shift(ints, -1000)
    now.append((ints, first, swap_in(ints, 3, 500), ints))
    now.append((three([300, 400, 500], 40), three([1.5, 2.5, 0.0], 0.25), three([300, 4.5, None], 2)))
    now.append((show(fails, [300, 800], 8), show(fails, [300, 800], 5), show(fails, [0.5, 80], 9)))
    line = [400, 500, 600]
    now.append([(a, list(b)) for a, b in running(line, 300)])
    now.append(histogram(range(turn, turn + 700), 3))
    many = numbers()
    copy = list(many)
    shift(many, 1)
    now.append((repr(many), repr(copy)))
    shift(copy, -1)
    now.append(repr(copy))
    own = [123456 + turn, 2.5 + turn]
    keys = {own[0]: "a", own[1]: "b"}
    shift(own, 1)
    now.append((own, keys))
    pair = [777 + turn] * 2
    shift(pair, 1)
    now.append((pair, pair[0] is pair[1]))
    before = shared[:]
    shift(shared, 1)
    now.append([b + 1 == s for b, s in zip(before, shared)])
    now.append(held([5000, 1.5], turn % 2, 3))
    answers.append(now)
    if turn % 20 == 0:
        print(turn, now)
print(shared)
