"""Functions that the same code makes again and again, and calls of them: themselves, from their maker, changed, and others' in their place."""

import types


def hanoi(depth):
    def move(n, a, b, c):
        if n == 0:
            return 0
        return move(n - 1, a, c, b) + 1 + move(n - 1, c, b, a)

    return move(depth, "a", "b", "c")


def search(graph, start):
    seen, order = set(), []

    def visit(node):
        seen.add(node)
        for other in graph[node]:
            if other not in seen:
                visit(other)
        order.append(node)

    visit(start)
    return order


def maker(n, how):
    def own(x, y=1):
        return x * n + y

    calls = own(1) + own(2, 3)
    if how == 1:
        own.__defaults__ = (50,)
    elif how == 2:
        own.__code__ = (lambda x, y=1: n and x - y).__code__
    elif how == 3:
        own = min
    elif how == 4:
        own = types.FunctionType(own.__code__, {"__builtins__": {}, "n": 7}, "own", (5,), own.__closure__)
    elif how == 5:
        own = Callable()
    return calls, own(7, 8), own(9, 2)


class Callable:
    def __call__(self, x, y):
        return "called", x, y


def counter():
    total = 0

    def add(n):
        nonlocal total, add
        total += n
        if n > 1:
            add(n - 1)
        elif n < 0:
            # The function goes while it runs.
            add = None
            raise ValueError(total)
        return total

    return add, lambda: total


def lines(n):
    def fail(k):
        if k == 0:
            raise KeyError(n)
        return fail(k - 1)

    try:
        fail(n)
    except KeyError as e:
        found, tb = [], e.__traceback__
        while tb:
            found.append((tb.tb_lineno - lines.__code__.co_firstlineno, tb.tb_frame.f_code.co_name))
            tb = tb.tb_next
        return e.args, found


def generators(n):
    def down(k):
        yield k
        if k:
            yield from down(k - 1)

    return list(down(n))


def deep(n):
    def go(k):
        return go(k + 1) if k < n else k

    try:
        return go(0)
    except RecursionError:
        return "too deep"


graph = {i: [(i * 3 + k) % 40 for k in range(4)] for i in range(40)}
for turn in range(150):
    answers = [hanoi(3), hanoi(turn % 4), search(graph, turn % 40)[-3:], search(graph, 0)]
    answers += [maker(turn, turn % 7 if turn > 60 else 0), lines(turn % 5), generators(turn % 6)]
    add, total = counter()
    answers += [add(3), total(), add(2), total()]
    try:
        add(-1)
    except ValueError as e:
        answers.append(e.args)
    answers.append(deep(30))
    if turn % 10 == 0 or turn > 60 and turn < 75:
        print(turn, answers)
print(deep(100_000))
