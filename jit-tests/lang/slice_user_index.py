"""__index__ called for bounds and subscripts: how often, in which order, changing the list, returning wrong things, raising."""

from support import each, hot

log = []


class I:
    def __init__(self, n, name="i", act=None):
        self.n, self.name, self.act = n, name, act

    def __index__(self):
        log.append(self.name)
        if self.act:
            self.act()
        if isinstance(self.n, Exception):
            raise self.n
        return self.n


class Int(int):
    def __index__(self):
        log.append("never")
        return 0


def get(s, a, b, c):
    log.clear()
    return s[a:b:c], log[:]


def item(s, i):
    log.clear()
    return s[i], log[:]


def assign(s, a, b, value):
    log.clear()
    s = s[:]
    s[a:b] = value
    return s, log[:]


def shrinking(n):
    s = list(range(10))
    cut = I(n, act=lambda: s.__delitem__(slice(2, None)))
    got = []
    for make in (lambda: s[cut:9], lambda: s[cut]):
        s[:] = range(10)
        try:
            got.append(make())
        except IndexError as error:
            got.append(str(error))
    s[:] = range(10)
    s[1:cut] = "ab"
    got.append(s[:])
    s[:] = range(10)
    try:
        s[cut] = "set"
    except IndexError as error:
        got.append(str(error))
    return got


def repeated(s, n):
    return s * n, n * s


each(get, *[(s, I(1, "a"), I(4, "b"), I(2, "c")) for s in ([0, 1, 2, 3, 4], "abcde", (5, 6, 7, 8, 9), range(5), b"abcde")])
each(get, ([1, 2], I(ValueError("a"), "a"), I(1, "b"), None), ([1, 2], I(0, "a"), I(OSError("b"), "b"), I(1, "c")), ("ab", I("x"), None, None), ("ab", I(1.0), 2, 1), ((1, 2, 3), Int(1), Int(3), None))
each(item, *[(s, i) for s in ([1, 2, 3], "abc", (4, 5, 6), b"xyz", range(3)) for i in (I(1), I(-1), I(5), Int(2), I(KeyError(3)), I(None))], times=35)
each(assign, ([1, 2, 3], I(0, "a"), I(2, "b"), [9]), ([1, 2, 3], I(0, "a"), I(LookupError(1), "b"), [9]), ([1, 2, 3], I(5), I(9), I(1)))
each(shrinking, (1,), (5,))
each(repeated, ("ab", I(2)), ([1], I(3)), ((), I(1)), ("a", I(-1)), ([1], I(2**70)), ("ab", I(TypeError("mine"))), (b"q", 1.5))
