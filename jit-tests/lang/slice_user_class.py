"""What user classes receive in subscripts: slices, ellipsis, tuples of slices; __class_getitem__; slice objects' own operations."""

from support import each, hot


class Box:
    def __getitem__(self, key):
        return key

    def __setitem__(self, key, value):
        self.last = key, value

    def __delitem__(self, key):
        self.last = "deleted", key


class Sub(list):
    def __getitem__(self, key):
        return "sub", super().__getitem__(key)


class Generic:
    def __class_getitem__(cls, key):
        return cls.__name__, key


class NoSet:
    def __getitem__(self, key):
        raise KeyError(key)


def keys(b, x):
    return b[x:], b[:x], b[::x], b[...], b[1:2, x], b[..., ::2], b[()], b[x,], b[1:2, 3:4:5], b[:]


def stores(b, x):
    out = []
    b[x:1] = "value"
    out.append(b.last)
    del b[x:2:3]
    out.append(b.last)
    b[x, :] = 1
    out.append(b.last)
    del b[...], b[x]
    out.append(b.last)
    b[1:x] += (5,) if False else slice(5)
    return out


def augmented(b, x):
    b[x] += x
    return b.last


def subscripts(s):
    return s[0], s[0:2], s[-1:]


def operations(a, b, c):
    s = slice(a, b, c)
    return s, s.start, s.stop, s.step, s == slice(a, b, c), s.indices(10), s < slice(a, b, 100), s is not slice(a, b, c)


each(keys, (Box(), 5), (Box(), None), (Box(), "x"))
hot(stores, Box(), 3)
each(augmented, (Box(), 2), (Box(), "s"), (Box(), (1,)), (Box(), None))
each(subscripts, (Sub([1, 2, 3]),), (Sub(),), (NoSet(),), ((7, 8, 9),), (Generic(),))
hot(lambda: (Generic[1:2], Generic[int, ...], list[int], dict[str, list[int]], tuple[()]))
each(operations, (1, 2, 3), (None, -1, None), (5, 0, -2), (0, 1, 0), ("a", "b", None), (1.5, 2, 1))
each(lambda s: s.indices(5), (slice(2**80),), (slice("x"),), (slice(None, None, -1),), (slice(-3, 9, 2),))
each(lambda s, n: s.indices(n), (slice(3), -1), (slice(3), "n"), (slice(3), 2**70))
each(lambda s: hash(s) == hash(slice(1, 2)), (slice(1, 2),), (slice(1, []),))
