"""list: every method with its errors, sorting with keys that fail or change the list, in-place operators, mutation while iterated."""

from support import each, hot


class Weird:
    def __init__(self, n, act=None):
        self.n, self.act = n, act

    def __eq__(self, other):
        if self.act:
            self.act()
        return self.n == other

    def __lt__(self, other):
        if self.act:
            self.act()
        return self.n < other.n

    def __repr__(self):
        return f"W{self.n}"


def grow(n):
    s = []
    for i in range(n):
        s.append(i)
        s.insert(i // 2, -i)
        s.extend((i, str(i)))
    s.insert(-100, "first")
    s.insert(100, "last")
    s.reverse()
    return s, s.count(0), s.index(1), s.copy() == s


def remove(s, x):
    s = list(s)
    s.remove(x)
    return s, s.pop(), s.pop(0), s


def popped(s, i):
    s = list(s)
    return s.pop(i), s


def found(s, *args):
    return s.index(*args)


def sorting(s, key, reverse):
    s = list(s)
    s.sort(key=key, reverse=reverse)
    return s


def sorted_while_changed():
    s = []
    s[:] = [Weird(i, lambda: s.append(1)) for i in (2, 1)]
    try:
        s.sort()
    except ValueError as error:
        return str(error), s


def removed_while_compared():
    s = []
    s[:] = [Weird(1), Weird(2, s.clear), Weird(3)]
    try:
        s.remove(3)
    except ValueError as error:
        return str(error), s


def appended_while_iterated(n):
    s = [1]
    for x in s:
        if len(s) < n:
            s.append(x + 1)
    for x in s:
        s.remove(x)
    return s


def operators(s, t):
    u = v = list(s)
    u += t
    u *= 2
    return s + s, s * 0, u is v, u, s < list(t), s == list(s), s + t


hot(grow, 3)
each(remove, ([1, 2, 3, 4], 2), ([1, 2], 5), ([1], 1), ([1, 1.0, True, 2], 1.0), ([], None))
each(popped, ([1, 2, 3], 1), ([1, 2, 3], -1), ([], 0), ([1], 5), ([1], "x"), ([1], 2**70), ([1, 2], True))
each(found, ([1, 2, 1], 1), ([1, 2, 1], 1, 1), ([1, 2, 1], 1, -1), ([1], 2), ([1], 1, 5), ([1], 1, "a"), ([], []))
each(sorting, ([3, 1, 2], None, False), ("bca", str.upper, True), ([1, "a"], None, False), ([3, 1], lambda x: 1 / (x - 1), False), ([(1, "b"), (0, "a"), (1, "a")], lambda p: p[0], True),
     ([Weird(2), Weird(1)], None, 0), ([None, None], None, False), ([1.5, 2**70, -1], abs, False), ([1], 5, False), ([3, 1], None, "yes"))
hot(sorted_while_changed)
hot(removed_while_compared)
hot(appended_while_iterated, 6)
each(operators, ([1], [2]), ([1], (2,)), ([], "ab"), ([1], 5), ([[]], [[]]))
