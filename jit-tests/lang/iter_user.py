"""Iterators of users: __next__ on the class only, __iter__ giving other things, restarts after the end, iterators that change under the loop."""

from support import each, hot


class Count:
    def __init__(self, n):
        self.i, self.n = 0, n

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i > self.n:
            raise StopIteration(self.i)
        return self.i


class Again(Count):
    """Goes on after its end, as it should not."""

    def __next__(self):
        self.i += 1
        if self.i % 4 == 0:
            raise StopIteration
        return self.i


class Iterable:
    def __init__(self, make):
        self.make = make

    def __iter__(self):
        return self.make()


class InstanceNext:
    def __init__(self):
        self.__next__ = lambda: 1

    def __iter__(self):
        return self


class NextOnly:
    def __next__(self):
        return 1


def loop(it):
    s = 0
    for x in it:
        s += x
        if s > 500:
            break
    return s


def both_ends(n):
    c = Count(n)
    out = []
    for x in c:
        out.append((x, next(c, None)))
    return out, c.i


def twice(it):
    return list(it), list(it), list(it)


def nested(n):
    c = Count(n)
    return [(x, y) for x in c for y in c]


def swapped(n):
    c = Count(n)
    out = []
    for x in c:
        out.append(x)
        if x == 2:
            c.__class__ = Again
        if len(out) > 8:
            break
    return out


def redefined(n):
    class Local:
        def __iter__(self):
            return self

        def __next__(self):
            return 1
    it = Local()
    out = []
    for x in it:
        out.append(x)
        if len(out) == n:
            Local.__next__ = lambda self: "new"
        if len(out) == n + 2:
            def stop(self):
                raise StopIteration
            Local.__next__ = stop
    return out[n - 1:]


def stops(n):
    """StopIteration raised by the body of a loop is an error, not an end."""
    for x in range(n):
        next(iter(()))
    return "never"


for make in (lambda: Count(5), lambda: iter([1, 2]), lambda: NextOnly(), lambda: 5, lambda: InstanceNext(), lambda: 1 / 0, lambda: [1, 2], lambda: (x for x in (1, "a"))):
    hot(lambda: loop(Iterable(make)), times=60)
each(lambda it: twice(it()), (lambda: Count(2),), (lambda: Again(0),), (lambda: iter("ab"),), (lambda: Iterable(lambda: iter("xy")),))
hot(both_ends, 5)
hot(nested, 4)
hot(swapped, 6)
hot(redefined, 50, times=3)
hot(stops, 2)
hot(stops, 0)
