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
    c.append(c[1])
    for i1 in c if type(c) is not list else list(c):
        try:
            log((-7 ^ a), (+v))
        finally:
            log('finally', len(c))
        v, w = w, v
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        if -1.5 < G <= b:
            break
    else:
        w /= (p.x / p.limit)
    return a, b, c, (+0.0)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    ('', float('inf'), range(5), P(False, -2**30)),
    (5e-324, 2**62, [1.5, -0.0, 2.5], P(2.0**63, 5e-324)),
    ('abc', 'é☃', [True, False, 1], S(0.1, '')),
    (-1, 7, [1, 2, 3], P((), -2**63)),
    ((1, 2.5), 255, [2**60, 2**63, -1], S(2**31, 2)),
]
