"""`in`: __contains__, __iter__, __getitem__, None to forbid, truth of answers, identity, strings in strings, ranges, errors within."""

from support import each


class Contains:
    def __init__(self, answer):
        self.answer = answer

    def __contains__(self, x):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Iterates:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        for item in self.items:
            if isinstance(item, Exception):
                raise item
            yield item


class GetItem:
    def __getitem__(self, i):
        if i > 3:
            raise IndexError
        return i * 2


class Forbidden:
    __contains__ = None

    def __iter__(self):
        return iter("never")


class NoTruth:
    def __bool__(self):
        raise ArithmeticError("truth")


class Equal:
    def __init__(self, answer):
        self.answer = answer

    def __eq__(self, other):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Meta(type):
    def __contains__(cls, x):
        return x == "in class"


class Class(metaclass=Meta):
    pass


def asked(x, c):
    return x in c, x not in c, not x in c


def branch(x, c):
    return "yes" if x in c else "no"


def chained(x, a, b):
    return x in a in b, a in b != x


each(asked, *[(x, c) for x, c in ((1, Contains(5)), (1, Contains("")), (1, Contains(KeyError(1))), (1, Contains(NoTruth())), (2, Iterates(1, 2)), (3, Iterates(1, OSError("iter"))),
                                  (1, Iterates(1, OSError("not reached"))), (4, GetItem()), (5, GetItem()), ("n", Forbidden()), (1, 5), (1, None), ("in class", Class), (1, Class), (1, int))])
each(asked, *[(x, c) for x, c in (("", "abc"), ("bc", "abc"), ("x", ""), (1, "abc"), (None, [None]), (1.0, [1]), (3, range(5)), (3.0, range(5)), (3.5, range(5)), ("a", range(3)), (True, (1,)),
                                  (2**70, range(2**71)), (Equal(True), [0]), (Equal(ValueError("eq")), [0]), (Equal(NoTruth()), (0,)), (Equal(0), {0}), (b"a", "a"), ((), ((),)))])
each(branch, (1, [1]), (2, (1,)), ("k", {"k": 1}), ([], {}), ("a", "ba"), (1, Contains([])))
each(chained, (1, [1], [[1]]), (1, [2], [[2]]), ("a", "ab", "abc"), (1, 2, 3))


class Number(int):
    def __eq__(self, other):
        log.append(int(self))
        return NotImplemented

    __hash__ = int.__hash__


class Shrinks:
    """Equal to nothing, and empties the list that it is in."""

    def __init__(self, items):
        self.items = items

    def __eq__(self, other):
        log.append("shrinks")
        self.items.clear()
        return False


def among(x, items):
    return x in items, x not in items


log = []
numbers = [0, 1, -1, 7, -7, 255, 256, 257, -256, 2**30 - 1, 2**30, -(2**30), 2**31, 2**60, -(2**60), 2**64, 10**30]
others = [True, False, 1.0, 7.0, float("nan"), None, "7", Number(7), Number(2**64), 257 + 0j]
for _ in range(40):
    among(7, numbers)
for items in (numbers, tuple(numbers), numbers[::-1], [], (), [int(str(n)) for n in numbers], numbers + others, others + numbers,
              tuple(others), [n + 1 for n in numbers]):
    for x in numbers + others:
        print(x, *among(x, items), end=" ")
    print(len(log))
    log.clear()
items = [1, 2]
items += [Shrinks(items), 300]
print(among(int("300"), items), items, log)
