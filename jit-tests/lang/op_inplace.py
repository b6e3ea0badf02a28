"""In-place operators: own methods, falling back, returning other objects, targets read once, tuples and strings, errors after effects."""

from support import each, hot

log = []


class Box:
    def __init__(self, x):
        self.x = x

    def __iadd__(self, other):
        log.append(("iadd", other))
        self.x += other
        return self

    def __isub__(self, other):
        return "replaced"

    def __imul__(self, other):
        return NotImplemented

    def __mul__(self, other):
        return Box(self.x * other)

    def __rmul__(self, other):
        return Box(("r", other))

    def __itruediv__(self, other):
        raise LookupError("in place")

    def __imatmul__(self, other):
        return self, other

    def __repr__(self):
        return f"Box({self.x})"


class Holder:
    def __init__(self):
        self.d = {}

    def __getattr__(self, name):
        log.append(("get", name))
        return self.__dict__["d"].get(name, 0)

    def __setattr__(self, name, value):
        log.append(("set", name))
        if name == "refused":
            raise AttributeError(name)
        self.__dict__[name] = value if name == "d" else value

    def __getitem__(self, key):
        log.append(("item", key))
        return 1

    def __setitem__(self, key, value):
        log.append(("store", key, value))


def each_op(b, x):
    a = c = b
    a += x
    kept = a is c
    m = b
    m *= x
    s = b
    s -= x
    t = b
    t @= x
    return kept, c, m, s, t[1]


def dividing(b, x):
    b /= x


def targets(h, k):
    log.clear()
    h.attr += 1
    h[k()] += 2
    h.attr <<= 3
    return list(log)


def refused(h):
    log.clear()
    try:
        h.refused += 1
    except AttributeError:
        return list(log)


def aliased(a):
    b = a
    b += b
    return a, b, a is b


def in_tuple():
    t = ([1], 2)
    try:
        t[0] += [2]
    except TypeError as error:
        return str(error), t


def numbers(x, y):
    a = x
    a += y; a -= 1; a *= 3; a //= 2; a %= 100; a **= 2
    b = x
    b <<= 2; b |= 1; b ^= y; b &= 0xFFFF; b >>= 1
    c = x
    c /= y
    return a, b, c


def strings(s, n):
    kept = s
    for i in range(n):
        s += str(i)
        if i == 2:
            kept = s
    s *= 2
    s %= ()
    return s, kept


def key():
    log.append("key")
    return "k"


each(lambda x, y: each_op(Box(x), y), (1, 2), (0.5, 3), ("a", 2), ([1], 2))
each(lambda x: dividing(x, 2), (Box(1),), ([],), ("a",), (None,))
hot(lambda: targets(Holder(), key))
hot(lambda: refused(Holder()))
each(lambda make: aliased(make()), (lambda: [1],), (lambda: (1,),), (lambda: "ab",), (lambda: 5,), (lambda: bytearray(b"x"),), (lambda: {1},), (lambda: 2**70,))
hot(in_tuple)
each(numbers, (7, 3), (2**40, 5), (2**65, 2**33), (1, 0), (-9, 4), (1.5, 2), (True, True), ("s", 1))
each(strings, ("x", 4), ("", 1), ("ä", 3))
