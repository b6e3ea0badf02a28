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
    log((2 % p.y), (p.y * p.x))
    i1 = 0
    while i1 < 14 and w >= b:
        i1 += 1
        w = ((len(c) // 7) - (p.limit // p.x))
        if p.x != v:
            try:
                del c[5]
                log(helper(a, G), G)
            finally:
                log('finally', p.limit)
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    w |= (v & p.y)
    return a, b, c, (p.y if w < b <= 256 else p.x)

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    ((), float('inf'), (1, 2, 3), P(I(5), 'abc')),
    (-2**30, -2**30, {0: 1, 1: 2.5}, P(2**31, 7)),
    (2**30-1, -2**63, [1.5, -0.0, 2.5], P(256, -2**60)),
    (2**63, -0.0, [0] * 5, S(I(2**61), True)),
    ('abc', 1e308, [1.5, -0.0, 2.5], P(2**60, -0.0)),
]
