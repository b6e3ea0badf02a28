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
    v = [2**30-1 for q in range(4)]
    log((b | len(c)), (1 | p.limit))
    return a, b, c, c[2]

CALLS = lambda: [
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (1, 7, [], P(0.0, 255)),
    (-0.0, 2**60-1, range(5), P(3, 2**31)),
    (2**62, 1, [0] * 5, S(256, 0.1)),
    ('abc', 2, [1, 2.5, 'x'], P(0.0, 5e-324)),
    (-1e308, I(5), [1, 2.5, 'x'], P(0, -2**60)),
    (2.0**53, -0.0, [], P(-1, (1, 2.5))),
]
