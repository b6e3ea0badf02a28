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
    del c[2]
    w = (I(5) + int(10))
    v = {'p.x': p.y}
    return a, b, c, (p.y - w)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (I(5), 3, range(5), P(0.1, 2**53+1)),
    (-2**63, 3, [2**60, 2**63, -1], P(2.0**53, 256)),
    (-1e308, False, [], P(-1.5, 2**63)),
    (255, True, [], P(float('inf'), '')),
    (float('nan'), 2**53+1, range(5), P(2.0**53, 2**53+1)),
    (2.0**53, 2**64, {0: 1, 1: 2.5}, S(0, ())),
]
