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
    p.y = c[len(c) - 1]
    p.x = (2**31 if w != w else len(c))
    v ^= (v * p.x)
    if p.limit > 5e-324:
        c[2] += p.limit
        b = (v < 2**53+1)
    else:
        w = c[5]
    a = 'é☃'
    return a, b, c, (+G)

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (-float('inf'), 2, (1, 2, 3), P(2**53+1, 10**30)),
    ('', 2**30, [0] * 5, S(-float('inf'), False)),
    (0.0, 2**63, range(5), P(-1, -7)),
    ('', 2**63-1, [0] * 5, P(0.0, 'abc')),
    ('a', 2**30-1, [1.5, -0.0, 2.5], S(-float('inf'), -1)),
    (2.0**63, 'é☃', [], S(0.0, 2**31)),
]
