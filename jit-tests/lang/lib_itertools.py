"""itertools and deque consumed by compiled loops and comprehensions: half-used, chained, grouped, errors in functions they call."""

import collections
import itertools

from support import each, hot


def fails(n):
    for i in range(n):
        yield i
    raise KeyError(n)


def chained(a, b):
    return [x for x in itertools.chain(a, b)], list(itertools.chain.from_iterable([a, b, a]))


def sliced(items, *bounds):
    it = iter(items)
    return list(itertools.islice(it, *bounds)), next(it, "ended")


def grouped(items, key):
    return [(k, list(g)) for k, g in itertools.groupby(items, key)], [k for k, g in itertools.groupby(items)]


def half_used():
    groups = itertools.groupby([1, 1, 2, 2, 3])
    k, g = next(groups)
    first = next(g)
    k2, g2 = next(groups)
    return k, first, list(g), k2, list(g2)


def products(a, b):
    s = 0
    for x, y in itertools.product(a, b):
        s += x * y
    return s, len(list(itertools.combinations(a, 2))), list(itertools.permutations(b, 1)), list(itertools.pairwise(a))


def endless(n):
    out = []
    for i, c, r in zip(itertools.count(5, 2), itertools.cycle("ab"), itertools.repeat(None)):
        out.append((i, c, r))
        if len(out) == n:
            break
    return out


def lazily(items):
    return (list(itertools.takewhile(lambda x: x < 3, items)), list(itertools.dropwhile(lambda x: x < 3, items)), list(itertools.filterfalse(None, items)),
            list(itertools.accumulate(items, lambda a, b: a * 2 + b)), list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.compress(items, [1, 0, 1])))


def teed(n):
    a, b = itertools.tee(i * i for i in range(n))
    x = [next(a), next(a)]
    return x, list(b), list(a), list(itertools.zip_longest("ab", range(n), fillvalue="-")), list(itertools.batched(range(n), 2))


def queue(n):
    q = collections.deque(maxlen=4)
    for i in range(n):
        q.append(i)
        if i % 3 == 0:
            q.appendleft(-i)
    q.rotate(1)
    out = [q.popleft(), q.pop(), list(q), q.maxlen, len(q), q[0]]
    try:
        for x in q:
            q.append(x)
    except RuntimeError as error:
        out.append(str(error))
    q.clear()
    q.pop()


def search(start, goal):
    seen, q = {start: 0}, collections.deque([start])
    while q:
        x = q.popleft()
        if x == goal:
            return seen[x], len(seen)
        for y in (x + 1, x * 2, x - 3):
            if y not in seen and abs(y) < 200:
                seen[y] = seen[x] + 1
                q.append(y)


each(chained, ((1, 2), "ab"), ([], []), (fails(1), "x"), ([1], 5))
each(lambda *a: sliced([0, 1, 2, 3, 4], *a), (2,), (1, 4), (0, None, 2), (-1,), ("x",), (9,))
each(grouped, ("aabbb", None), ([1, 3, 2, 4], lambda x: x % 2), ([], None), ([1, 0], lambda x: 1 / x))
hot(half_used)
each(products, ([1, 2, 3], [4, 5]), ([], [1]), ([1.5], [2]), (["a"], ["b"]))
hot(endless, 4)
each(lazily, ([1, 2, 3, 1],), ([],), (["a"],))
hot(teed, 5)
hot(queue, 7)
each(search, (1, 100), (5, 5), (2, 173))
