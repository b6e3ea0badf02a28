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
    v %= (w - p.y)
    v, *w = c
    p.step((b % p.limit))
    w = f'{len(c)}-{a}'[:30]
    return a, b, c, (b * b)

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    ('a', 2.0**53, [1.5, -0.0, 2.5], P(2**62, float('inf'))),
    (2**60, 'a', range(5), S(None, 2**64)),
    (10, False, ['a', 'b'], P(1e308, I(5))),
    (0, '', ['a', 'b'], P(-1.5, I(2**61))),
    (-2**63, 2.0**53, (), P(1, 2**53+1)),
]
