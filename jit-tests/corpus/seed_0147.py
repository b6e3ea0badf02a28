LOG = []

class I(int):
    pass

class P:
    limit = 3
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def step(self, d):
        self.x = self.x + d
        return self.y
    @property
    def both(self):
        return self.x, self.y

class S:
    __slots__ = ("x", "y")
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def step(self, d):
        self.y = d
        return self.x

G = 3

def log(*values):
    LOG.append(values)
    return values[0] if values else None

def helper(a, b=2):
    if a == b:
        return a
    return a - b

def target(a, b, c, p):
    v = w = 0
    if p.limit > b:
        log((p.limit / w), (w & p.x))
        i1 = 0
        while i1 < 9 and w <= 0.1:
            i1 += 1
            w = ((w // 3) + (-2**63))
            log((2**60 / w), w)
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    elif p.x == v:
        w = p.both
        v = (not c[1])
    v = c[2]
    b //= (G - w)
    return a, b, c, (b << (G & 70))

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (0, 1e308, range(5), S(2**30, 2**30-1)),
    (-2**63-1, None, [1, 2, 3], P((1, 2.5), -1.5)),
    (2**60-1, -7, [2**60, 2**63, -1], P(I(5), 2**30)),
    (0.1, 2.0**63, {0: 1, 1: 2.5}, P(2**64, 2**63-1)),
    (2**62, 2**60-1, {0: 1, 1: 2.5}, P(I(2**61), 'abc')),
]
