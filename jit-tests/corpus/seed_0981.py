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
    b = c[1]
    log(c[-1], c[-1])
    v %= (a & p.limit)
    return a, b, c, (w + G)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (2**63, 2**63-1, -2**30, P(I(5), ())),
    (1, 1e308, [2**60, 2**63, -1], P(256, 2**62)),
    (10**30, 2**31, [2**60, 2**63, -1], P(2**30, 'a')),
    (1e308, 2**53+1, [0] * 5, P(-float('inf'), 2)),
    (2**63, 2**64, 'abc', P(-1.5, 2**30)),
    (1.0, 2**63-1, ['a', 'b'], S(0.0, 2**63)),
]
