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
    a /= (w + a)
    log(None, (2**31 if a is v else len(c)))
    return a, b, c, (p.limit % b)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (-float('inf'), -2**63-1, 'abc', S(2**62, 0.1)),
    (10, -1.5, 'abc', P(None, 2**30)),
    (1e308, 1, range(5), S(0.0, (1, 2.5))),
    (255, I(2**61), [True, False, 1], S(2**63, 10)),
    (2**31, 0, range(5), P(2**64, 1)),
    (-2**63-1, 0.0, 2**62, P(2**60-1, 10)),
]
