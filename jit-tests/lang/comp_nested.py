"""Comprehensions in comprehensions, of several kinds at once, with conditions at each level, over dicts, strings and each other's results."""

from support import each, hot


def matrix(n):
    m = [[i * n + j for j in range(n)] for i in range(n)]
    t = [[row[j] for row in m] for j in range(n)]
    p = [[sum(a * b for a, b in zip(r, c)) for c in zip(*m)] for r in t]
    return m, t, p


def grouped(words):
    by = {k: sorted({w for w in words if w[0] == k}) for k in {w[0] for w in words if w}}
    return sorted(by.items()), {len(v): [w.upper() for w in v if len(w) > 1] for v in by.values()}


def triples(n):
    return [(a, b, c) for c in range(1, n) for b in range(1, c) if b % 2 == 0 for a in range(1, b) if a * a + b * b == c * c]


def chosen(items):
    return [x if x > 0 else -x if x < -5 else [y for y in range(-x)] for x in items if x or x is not None]


def flat(tree):
    return [y for x in tree for y in (flat(x) if isinstance(x, list) else [x])]


def inverted(d):
    return {v: {k for k in d if d[k] == v} == {j for j, w in d.items() if w == v} for v in set(d.values())}


def starred(rows):
    return [[first, *rest] for first, *rest in rows], [(*row, len(row)) for row in rows], {(a, b): c for (a, b), *c in [(row[:2], row[2:]) for row in rows]}


def deep(n):
    return [[[[(a, b, c, d) for a in range(b)] for b in range(c)] for c in range(d)] for d in range(n)]


def lazily(n):
    g = ((i, j) for i in range(n) for j in (k for k in range(i) if k % 2))
    return next(g, None), list(g), list(g)


hot(matrix, 3)
each(grouped, (["apple", "ant", "bee", "b", "", "ant"],), ([],))
hot(triples, 26)
each(chosen, ([1, -2, -9, 0],), ([None, 1],), ([2.5, -7.5],))
each(flat, ([1, [2, [3, []], 4], "x"],), ([],))
hot(inverted, {"a": 1, "b": 2, "c": 1})
each(starred, ([(1, 2, 3), (4, 5)],), ([(1, 2), ()],), (["ab", "cde"],))
hot(deep, 4)
hot(lazily, 6)
