"""Slices of lists that are assigned to slices of lists: what is copied, what is seen of it, and what goes wrong on the way."""

import sys
import weakref


def reversed_prefix(deck, first):
    deck[:first + 1] = deck[first::-1]
    return deck


def between(a, b, low, high, start, stop):
    a[low:high] = b[start:stop]
    return a


def backwards(a, b, low, high, start, stop):
    a[low:high] = b[start:stop:-1]
    return a


def by_two(a, b, low, high, start, stop):
    a[low:high] = b[start:stop:2]
    return a


def by_minus_three(a, b, low, high, start, stop):
    a[low:high] = b[start:stop:-3]
    return a


def by(a, b, low, high, start, stop, step):
    a[low:high] = b[start:stop:step]
    return a


def whole(a, b):
    a[:] = b[:]
    return a


def in_handler(a, b, low, high):
    try:
        a[low:high] = b[high::-1]
    except (TypeError, ValueError) as e:
        return type(e).__name__, str(e)
    finally:
        a.append("end")
    return a


def kept(a, b, n):
    a[:n] = c = b[n::-1]
    return a, c


def computed(a, b, n, m):
    a[n * m - n:n * m] = b[n + m::-1]
    return a


def multi_line(a, b, n):
    a[
        :n.stop
    ] = b[
        n.start::-1
    ]
    return a


def warm():
    for _ in range(80):
        for f in (between, backwards, by_two, by_minus_three):
            f([1, 2, 3, 4, 5, 6], [7, 8, 9, 10], 1, 3, 0, 2)
            f([1, 2, 3, 4, 5, 6], [7, 8, 9, 10], None, 3, None, None)
        by([1, 2, 3], [4, 5, 6], 0, 2, 0, 2, 1)
        reversed_prefix(list(range(8)), 4)
        whole([1, 2], [3, 4, 5])
        in_handler([1, 2, 3], [4, 5, 6], 0, 2)
        kept([1, 2, 3], [4, 5, 6], 2)
        computed(list(range(20)), list(range(20)), 3, 2)
        multi_line([1, 2, 3], [4, 5, 6], slice(1, 2))


warm()

# Bounds of all kinds, of other lists and of the same.
ENDS = (None, 0, 1, 3, 5, 6, 7, 100, -1, -2, -5, -6, -100, 2**62, -2**62, 2**64, -2**64, True)
total = 0
for f in (between, backwards, by_two, by_minus_three):
    for low in ENDS:
        for high in (None, 0, 2, 6, -3, 2**65):
            for start in ENDS:
                for stop in (None, 0, 4, 9, -4, -2**65):
                    a = [1, 2, 3, 4, 5, 6]
                    f(a, [10, 20, 30, 40, 50], low, high, start, stop)
                    b = [1, 2, 3, 4, 5, 6]
                    f(b, b, low, high, start, stop)
                    for i, n in enumerate(a + b):
                        total = (total * 31 + n * (i + 1)) % 1000003
print(total)

# The same range, in place.
print([reversed_prefix(list(range(7)), n) for n in range(8)])
print(reversed_prefix([[1], [2], [3]], 2))


# What an object's end does is done when all is replaced, and the new ones are held until the last is gone.
class Noisy:
    log = []

    def __init__(self, name, target=None):
        self.name = name
        self.target = target

    def __del__(self):
        seen = None if self.target is None else [getattr(x, "name", x) for x in self.target]
        Noisy.log.append((self.name, seen, sys._getframe(1).f_lineno - LINE))

    def __repr__(self):
        return f"<{self.name}>"


LINE = sys._getframe().f_lineno


def replace_noisy(a, b, n):
    for _ in range(3):
        a[:n] = b[n - 1::-1]
        Noisy.log.append("after")
    return a


for size in (1, 2, 3, 5):
    a = []
    a += [Noisy(f"old {i}", a) for i in range(size)]
    b = [Noisy(f"new {i}") for i in range(size)]
    print(replace_noisy(a, b, size), [sys.getrefcount(x) for x in b])
    del a
    Noisy.log.append("gone")
    del b
    print(Noisy.log)
    Noisy.log.clear()


class Clears:
    """Its end takes the list away under the assignment's feet."""

    def __init__(self, items):
        self.items = items

    def __del__(self):
        counts.append([sys.getrefcount(x) for x in self.items])
        self.items.clear()


def clearing(a, b):
    a[:2] = b[1::-1]
    return a


counts = []
for _ in range(60):
    a = [1, 2, 3]
    clearing(a, [4, 5])
for _ in range(5):
    a = []
    a += [Clears(a), Clears([object()])]
    clearing(a, [object(), object()])
    print(a, counts)
    counts.clear()


# Weak references, references that others have, and duplicates among what is replaced.
class Plain:
    pass


def replace_plain(a, b):
    a[1:3] = b[::-1]
    return a


for _ in range(60):
    replace_plain([1, 2, 3, 4], [5, 6])
x = Plain()
ref = weakref.ref(x, lambda r: print("callback", r() is None))
a = [0, x, x, 0]
replace_plain(a, [1, 2])
print(ref() is x, sys.getrefcount(x))
a = [0, x, x, 0]
del x
replace_plain(a, [1, 2])
print(ref(), a)
big = 10**30
a = [0, big + 1, big + 2, 0]
print(replace_plain(a, [big, big]), a[1] is a[2] is big)
many = [str(i) + "x" for i in range(300)]
for n in (0, 1, 31, 32, 33, 64, 65, 299):
    copy = many[:]
    reversed_prefix(copy, n)
    assert copy[:n + 1] == many[n::-1] and copy[n + 1:] == many[n + 1:]
    copy = list(range(1000, 1300))
    between(copy, many, 0, n, 0, n)
    assert copy == many[:n] + list(range(1000 + n, 1300))
    print(n, len(copy), sys.getrefcount(copy[0]))
print({sys.getrefcount(s) for s in many})

# The room that lists have is seen.
for n in (0, 1, 3, 8, 20):
    a = list(range(6))
    sizes = [sys.getsizeof(a)]
    for _ in range(4):
        between(a, list(range(n)), 1, 4, None, None)
        sizes.append(sys.getsizeof(a))
    print(n, len(a), [size - sizes[0] for size in sizes])


# What goes wrong.
class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        print("index", self.n)
        return self.n


class Bad:
    def __index__(self):
        raise ZeroDivisionError("no index")


def attempt(f, *args):
    try:
        return f(*args)
    except Exception as e:
        tb = e.__traceback__.tb_next
        return type(e).__name__, str(e), tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno


a = [1, 2, 3, 4]
print(between(a, a, Index(0), Index(1), Index(2), Index(4)))
for args in (
    ([1, 2], [3], "x", None, None, None),
    ([1, 2], [3], None, "x", None, None),
    ([1, 2], [3], None, None, "x", None),
    ([1, 2], [3], None, None, None, "x"),
    ([1, 2], [3], Bad(), None, None, None),
    ([1, 2], [3], Bad(), None, "x", None),
    ((1, 2), [3], None, None, None, None),
    ([1, 2], (3, 4), None, None, None, None),
    ([1, 2], "xyz", None, None, None, None),
    ([1, 2], None, None, None, None, None),
    ([1, 2], {}, None, None, None, None),
    (None, [3], None, None, None, None),
):
    print(attempt(between, *args), attempt(backwards, *args))
print(attempt(by, [1, 2], [3, 4], None, None, None, None, 0), attempt(by, [1, 2], [3, 4], None, None, None, None, None))
print(attempt(by, [1, 2], [3, 4], None, None, None, None, -1), attempt(by, [1, 2], [3, 4], None, None, None, None, 2**70))
print(in_handler([1, 2, 3], [4, 5, 6], 0, "x"), in_handler([1, 2, 3], [4, 5, 6], None, 1))
print(kept([1, 2, 3], [4, 5, 6], 1))
print(attempt(computed, [1, 2, 3], [4, 5, 6, 7, 8, 9], 2**40, 2**40), attempt(computed, [1, 2, 3], [4, 5, 6], 1, "x"))
print(attempt(multi_line, [1, 2], [3, 4], slice("x", 1)), attempt(multi_line, [1, 2], [3, 4], slice(1, "x")))
print(attempt(multi_line, [1, 2], [3, 4], None), attempt(multi_line, 5, [3, 4], slice(1, 2)))


# Subclasses have their own ways.
class Loud(list):
    def __getitem__(self, key):
        print("get", key)
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        print("set", key, value)
        super().__setitem__(key, value)


print(between(Loud([1, 2, 3]), [4, 5], 0, 1, 0, 2), between([1, 2, 3], Loud([4, 5]), 0, 1, 0, 2))
print(backwards([1, 2, 3], Loud([4, 5]), 0, 1, 1, None), reversed_prefix(Loud([1, 2, 3]), 1))


# Loops whose bets fail in the midst.
def rounds(deck, steps):
    flips = 0
    for first in steps:
        deck[:first + 1] = deck[first::-1]
        flips += 1
    return deck, flips


print(rounds(list(range(10)), [3, 5, 2, 9] * 50 + [True, 10**20, 4]))
print(attempt(rounds, list(range(10)), [3, 5, 2, 9] * 50 + [2.5]))
print(attempt(rounds, list(range(10)), [3, 5, 2, 9] * 50 + [2**60 - 1, 2**62, -1, 0]))


class Attributes:
    def __init__(self, n):
        self.items = list(range(n))
        self.size = n

    def turn(self, k):
        self.items[:k] = self.items[self.size - 1::-1]

    def shift(self, k):
        self.items[k:] = self.items[:-k]


def use(thing, n):
    for k in range(n):
        thing.turn(k % 12)
        thing.shift(k % 5 + 1)
        thing.items[12:] = []
        thing.size = len(thing.items)


thing = Attributes(12)
use(thing, 1500)
print(thing.items, thing.size)
# What is replaced is the last reference to an object; then the attribute is no list, and then the bound no int.
thing.items = [Noisy(str(i)) for i in range(12)]
Noisy.log.clear()
use(thing, 3)
print(len(thing.items), Noisy.log)
thing.items = bytearray(range(12))
use(thing, 3)
print(thing.items)
thing.items = list(range(12))
thing.turn(True)
print(thing.items)
print(attempt(thing.turn, "x"), attempt(thing.turn, 2**70), len(thing.items))
shared = list(range(6))
for k in range(300):
    shared[k % 5:] = shared[k % 3:k % 3 + 4]
    shared[:0] = shared[-1:]
    shared[7:] = shared[:0]
print(shared)
