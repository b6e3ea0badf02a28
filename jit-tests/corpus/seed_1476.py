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
    v *= (~p.limit)
    v, w = (p.x + v), c[2]
    return a, b, c, (p.x - v)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (I(2**61), -1.5, {0: 1, 1: 2.5}, P(2**64, -7)),
    (2**30-1, 'abc', ['a', 'b'], P(5e-324, 'é☃')),
    (0, 2, 'abc', S(2**60, 'a')),
    (I(2**61), -2**30, [1, 2, 3], S(255, ())),
    ((), True, range(5), P('é☃', 2.0**63)),
    (2**63, -0.0, {0: 1, 1: 2.5}, P(-7, -2**63)),
]
