"""Sets: operators and methods with every kind of other operand, in place, results' classes, frozen ones, errors and unhashable items."""

from support import each, hot


class Sub(set):
    pass


class Fails:
    def __hash__(self):
        raise LookupError("hash")


def shown(x):
    return type(x).__name__, sorted(x, key=str) if isinstance(x, (set, frozenset)) else x


def operators(a, b):
    return [shown(x) for x in (a & b, a | b, a - b, a ^ b)], a < b, a <= b, a > b, a >= b, a == b, a != b


def methods(a, other):
    return [shown(x) for x in (a.union(other), a.intersection(other), a.difference(other), a.symmetric_difference(other))], a.issubset(other), a.issuperset(other), a.isdisjoint(other)


def in_place(a, b):
    c = d = set(a)
    c |= b
    c -= {1}
    c ^= {7, 8}
    c &= {2, 3, 7, 9}
    return c is d, shown(c)


def changes(a, x):
    a = set(a)
    a.add(x)
    a.discard(x)
    a.discard("absent")
    a.update([x], "ab", ())
    size = len(a)
    a.remove(x)
    return size, x in a, a.pop() is not None, len(a)


def missing(a, x):
    a.remove(x)


def displays(a, b):
    return {a, b, a}, {*a, *b} if isinstance(a, str) else len({a, b}), {a} == {b}


each(operators, ({1, 2, 3}, {2, 3, 4}), (set(), {1}), (frozenset("ab"), {"b"}), (Sub([1]), {1, 2}), ({1}, [1]), ({1}, {1: 2}.keys()), ({1: 2}.keys(), {1, 3}), (5, {1}))
each(methods, ({1, 2}, [2, 3]), (frozenset([1]), (1, 1)), (Sub("ab"), "b"), ({1}, 5), ({1}, [[]]), (set(), {}), ({1}, [Fails()]))
each(in_place, ({1, 2, 3}, {9}), ({2}, frozenset([3])), ({1}, [2]), ({1}, {2: 3}.keys()))
each(changes, ({1, 2}, 5), ((), "x"), ({1}, 1), ({1}, []), ({1}, Fails()), ({1}, 1.0))
each(missing, ({1}, 2), (set(), "k"), (set(), ()), (frozenset([1]), 1), ({1}, {2}))
each(displays, (1, 2), (1, True), ("ab", "bc"), ([], 1), (Fails(), 1))
hot(lambda: [shown(x) for x in (set("hello"), {i % 3 for i in range(9)}, frozenset({1} | {2}))])
