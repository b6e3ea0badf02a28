"""Recursive generators: trees, permutations, flattening and parsers, deep delegation, early ends and exceptions out of the depth."""

from support import each, hot


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def build(lo, hi):
    if lo >= hi:
        return None
    mid = (lo + hi) // 2
    return Node(mid, build(lo, mid), build(mid + 1, hi))


def permutations(items):
    if len(items) < 2:
        yield tuple(items)
        return
    for i in range(len(items)):
        for rest in permutations(items[:i] + items[i + 1:]):
            yield (items[i], *rest)


def flatten(x):
    for item in x:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item / 1 if item != "zero" else 1 / 0


def depth(n):
    if n:
        got = yield from depth(n - 1)
        return got + 1
    yield "bottom"
    return 0


def queens(n, row=0, cols=()):
    if row == n:
        yield cols
        return
    for c in range(n):
        if all(c != k and abs(c - k) != row - r for r, k in enumerate(cols)):
            yield from queens(n, row + 1, cols + (c,))


def tokens(text):
    i = 0
    while i < len(text):
        if text[i] == "(":
            inner = []
            level, start = 1, i + 1
            while level:
                i += 1
                if i == len(text):
                    raise SyntaxError(f"open at {start}")
                level += {"(": 1, ")": -1}.get(text[i], 0)
            inner.extend(tokens(text[start:i]))
            yield inner
        else:
            yield text[i]
        i += 1


def value_of(g):
    seen = []
    while True:
        try:
            seen.append(next(g))
        except StopIteration as stop:
            return seen, stop.value


tree = build(0, 31)
hot(lambda: list(tree), times=40)
hot(lambda: (sum(tree), 7 in tree, max(tree), [x for x, _ in zip(tree, range(4))]), times=40)
each(lambda items: list(permutations(items)), ([1, 2, 3],), ("abc",), ([],), times=40)
each(lambda x: list(flatten(x)), ([1, [2, (3, [4.5])], []],), ([[1, "zero"]],), ([["text"]],), (5,))
each(lambda n: value_of(depth(n)), (0,), (5,), (60,), times=40)
hot(lambda: (list(queens(5)), next(queens(6))), times=20)
each(lambda t: list(tokens(t)), ("a(b(c)d)e",), ("((",), ("",), ("()()",))
