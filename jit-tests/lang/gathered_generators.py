"""Builtins that take all items of a generator expression: list, tuple, sorted, set, frozenset, sum, min, max, str.join."""


def numbers(rows):
    total = 0
    for row in rows:
        total += sum(x * x for x in row)
        total += sum(1 for x in row if x & 1)
        total += max(x ^ 5 for x in row) - min(-x for x in row)
        total += len(list(x + 1 for x in row)) + len(tuple(x for x in row if x > 2))
        total += sorted(x % 7 for x in row)[-1] + len(set(x & 3 for x in row))
        total += len(frozenset(x >> 2 for x in row))
    return total


def texts(rows):
    out = []
    for row in rows:
        out.append(",".join(w + "!" for w in row))
        out.append("".join(sorted(w for w in row)))
        out.append(" ".join(str(len(w)) for w in row if w != "b"))
    return out


for _ in range(40):
    numbers([range(5), list(range(20)), (3, 4, 5)] * 5)
    texts([["a", "bc", ""], ("b", "b"), []] * 5)
print(numbers([range(9), list(range(4, 50)), (1, 2, 3, 10 ** 30, -5)]))
print(texts([["x"], ["b", "b"], ("", "yy")]))


# Items of other classes after the code has been compiled: each is an exit at an item, with the items before it kept.
def each(row):
    return [
        list(x + x for x in row),
        tuple(x for x in row),
        sum((x for x in row)),
        sum(x + x for x in row),
        set(x for x in row),
        max(x for x in row),
        min(x + x for x in row),
        sorted(x + x for x in row),
    ]


for _ in range(60):
    each([1, 2, 3])
    each((4, 5))
for row in ([1, 2.5, 3], [0.1] * 10, [1, 2, True, 0.5], [2 ** 70, 1], [3, 2, -0.0, 0], [float("inf"), 1, 2], (1, 2, 3)):
    print(each(row))
print(sum(x for x in [2 ** 60, 0.5, -(2 ** 60)]), sum(x for x in [1e100, 1.0, -1e100]))


def attempt(f, *args):
    try:
        print(f.__name__, f(*args))
    except Exception as e:
        tb, lines = e.__traceback__, []
        while tb:
            lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno))
            tb = tb.tb_next
        print(f.__name__, type(e).__name__, e, lines)


def longest(words):
    return max(len(w) for w in words)


def joined(words):
    return "-".join(w for w in words)


def ordered(items):
    return sorted(x for x in items)


def added(items):
    return sum(x for x in items)


def unique(items):
    return len(set(x for x in items))


for _ in range(3000):
    longest(["a", "bb"]), joined(["a", "b"]), ordered([3, 1, 2]), added([1, 2]), unique([1, 1])
attempt(longest, [])
attempt(longest, ["a", 3])
attempt(joined, ["a", 3, "b"])
attempt(joined, [])
attempt(ordered, [1, "a", 2])
attempt(added, [1, None])
attempt(added, ["a"])
attempt(unique, [1, [2]])
attempt(unique, [1, {}, 1 // 1])
attempt(longest, None)


# The order in which user code runs: the body of the generator and the operator of the builtin take turns.
log = []


class Noisy:
    def __init__(self, n):
        self.n = n

    def __radd__(self, other):
        log.append(("radd", self.n))
        return other + self.n

    def __hash__(self):
        log.append(("hash", self.n))
        return self.n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        log.append(("lt", self.n, other.n))
        return self.n < other.n

    def __gt__(self, other):
        log.append(("gt", self.n, other.n))
        return self.n > other.n


def passed(x):
    log.append(x if isinstance(x, int) else x.n)
    return x


def turns(items):
    a = sum(passed(x) for x in items)
    b = len(set(passed(x) for x in items))
    c = len(frozenset(x for x in items))
    d = max(passed(x) for x in items)
    e = min(x for x in items)
    f = sorted(passed(x) for x in items)
    g = list(passed(x) for x in items)
    h = tuple(passed(x) for x in items)
    return a, b, c, d, e, len(f), len(g), len(h)


for _ in range(300):
    turns([1, 2, 3])
log.clear()
a, b, c, d, e, *rest = turns([Noisy(1), Noisy(5), Noisy(2)])
print(a, b, c, d.n, e.n, rest, log)


# Generator functions that return early, raise, or yield nothing.
def pairs(items):
    for i in items:
        if i < 0:
            raise ValueError(i)
        if i > 100:
            return
        yield i, i * i


def folded(items):
    return dict(pairs(items)), list(pairs(items)), max(pairs(items)), tuple(k for k, v in pairs(items))


for _ in range(2000):
    folded([1, 2, 3])
attempt(folded, [1, 2, 101, 5])
attempt(folded, [1, -2])
attempt(folded, [])
attempt(folded, (1.5, 2))


def shared(items):
    """A generator that others have too is not a part of the call."""
    g = (x * 2 for x in items)
    first = next(g)
    return first, list(g), list(g), sum(x for x in g)


for _ in range(2000):
    shared([1, 2, 3])
print(shared([5, 6.5, "a"]))


def handled(items):
    """In a handler's range the stack is unwound."""
    out = []
    for item in items:
        try:
            out.append(sum(1 // x for x in item))
        except ZeroDivisionError as e:
            out.append(str(e))
        finally:
            out.append(list(x for x in item))
    return out


for _ in range(500):
    handled([[1, 2], [1]])
print(handled([[1, 0], [2], []]))


def nested(n):
    return [sum(sum(j for j in range(i)) for i in range(k)) for k in range(n)]


for _ in range(300):
    nested(6)
print(nested(9))


# A finaliser in the middle: the items are alive until the list is dropped.
class End:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


def made(names):
    kept = list(End(n) for n in names)
    log.append("made")
    return len(kept)


def largest(names):
    return max((len(End(n).name) for n in names))


for _ in range(2000):
    made(["a"]), largest(["a", "b"])
log.clear()
print(made(["a", "b", "c"]), log)
log.clear()
print(largest(["x", "yyy", "zz"]), log)


def parameters(self, items, scale=2):
    return sum(x * scale + self for x in items), max(x - self for x in items)


for _ in range(2000):
    parameters(1, [1, 2, 3])
print(parameters(2.5, [1, 2, 3]), parameters(1, [10 ** 20, 1], 10 ** 5), parameters(True, (4,), 1j.imag))


# Where the builtin raises, the generator has not gone on.
def shown(x):
    log.append(x)
    return x


def summed(items):
    return sum(shown(x) for x in items)


def highest(items):
    return max(shown(x) for x in items)


def lowest(items):
    return min(shown(x) for x in items)


def distinct(items):
    return set(shown(x) for x in items)


def frozen(items):
    return frozenset(shown(x) for x in items)


def raising(f, items):
    log.clear()
    try:
        return f(items)
    except (TypeError, OverflowError) as e:
        return type(e).__name__


builtins_taking_all = [summed, highest, lowest, distinct, frozen]
for _ in range(600):
    for f in builtins_taking_all:
        raising(f, [1, 2, 3]), raising(f, [1.5, 2])
for items in (["a", "b", "c"], [1, "a", 2], [10 ** 400, 0.5, 3], [0.5, 10 ** 400, 3], [b"x", "x", 1], [1, [], 2], [10 ** 30, 10 ** 40], [None, None]):
    for f in builtins_taking_all:
        result = raising(f, items)
        print(f.__name__, result if isinstance(result, str) else len(str(result)), log)
