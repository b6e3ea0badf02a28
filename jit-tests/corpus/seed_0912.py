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
    w *= (2**63 + 2**30)
    b = (p.x * (0 + p.y))
    log((len(c) / b), (p.limit / 2))
    try:
        c.append((-v))
        del c[len(c) - 1]
    finally:
        log('finally', -float('inf'))
    return a, b, c, (not p.y)

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2**30-1, -1, [2**60, 2**63, -1], P(2**62, False)),
    (None, 3, [], P(I(5), True)),
    (-2**63-1, 2**60, 'abc', P(5e-324, 2**63-1)),
    (2**63, float('inf'), ['a', 'b'], P('', None)),
    ('a', I(2**61), [0] * 5, S(float('nan'), 3)),
]
