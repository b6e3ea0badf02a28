"""Dicts and sets: iterating views, changing values and keys under way, order, methods, hash errors, equality that raises."""


def totals(d):
    s = 0
    for k in d:
        s += d[k]
    for k, v in d.items():
        s += v
    for v in d.values():
        s -= v
    return s


def doubles(d):
    for k in d:
        d[k] = d[k] * 2
    return d


def grows(d, at):
    for i, k in enumerate(d):
        if i == at:
            d["more"] = 1
    return len(d)


def shrinks(d, at):
    for i, k in enumerate(d.items()):
        if i == at:
            d.pop(0)
    return len(d)


def histogram(values):
    h = {}
    for v in values:
        if v in h:
            h[v] += 1
        else:
            h[v] = 1
    return h


def memo(n):
    cache = {}

    def f(k):
        if k < 2:
            return k
        if k not in cache:
            cache[k] = f(k - 1) + f(k - 2)
        return cache[k]

    return f(n)


def drains(d):
    n = 0
    while d:
        k, v = d.popitem()
        n += v
    return n


class Key:
    def __init__(self, n, fail=False):
        self.n = n
        self.fail = fail

    def __hash__(self):
        return self.n % 3

    def __eq__(self, o):
        if self.fail or o.fail:
            raise ValueError("compared")
        return self.n == o.n


def keyed(n):
    d = {}
    for i in range(n):
        d[Key(i % 20)] = i
    return len(d), sum(d.values())


def probe(d, keys):
    s = 0
    for k in keys:
        s += d.get(k, -1) + (k in d) + d.setdefault(k, 5)
    return s, len(d)


base = {i: i * 0.5 for i in range(400)}
print(totals(base), sum(doubles(dict(base)).values()), histogram([i % 7 for i in range(400)]), histogram("mississippi"))
print(memo(90), drains(dict(base)), keyed(400), probe({}, range(300)), probe({1: 2}, [1, True, 1.0, "x", None, (1,)]))
for f, args in [(grows, (dict(base), 350)), (shrinks, (dict(base), 350)), (histogram, ([1] * 320 + [[]],)), (histogram, ([{}],)),
                (totals, ({1: "x"},)), (probe, ({}, [[1]])), (drains, (5,))]:
    try:
        print(f(*args))
    except (RuntimeError, TypeError, AttributeError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
d = {Key(0): 1, Key(3): 2}
try:
    d[Key(6, fail=True)]
except ValueError as error:
    print(error)
for f in (lambda: {}[1], lambda: {}.popitem(), lambda: {1: 2}.pop(3), lambda: dict([1]), lambda: {1: 2} < {}, lambda: set([[]]), lambda: {1}.remove(2)):
    try:
        f()
    except (KeyError, TypeError, ValueError) as error:
        print(type(error).__name__, error)


def order(n):
    d = {}
    for i in range(n):
        d[i % 5] = i
        if i % 50 == 0:
            d.pop(2, None)
            d.update({"x": i})
            d |= {i % 3: -1}
    return list(d.items())


def sets(n):
    a, b = set(), set()
    for i in range(n):
        a.add(i % 40)
        b.add(i % 60)
        if i % 90 == 0:
            a -= {i % 7}
            b &= a | set(range(55))
    return len(a), len(b), len(a & b), sum(a ^ b), a < b, a.isdisjoint({100})


print(order(401), sets(400))
