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
    a, b = b, a
    log((p.limit // p.y), (b - p.limit))
    b -= (b - p.x)
    log((p.x < w), (a - p.y))
    try:
        a *= c[-1]
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        w = (b is not p.limit)
    else:
        c.append((p.x - 2.0**63))
    return a, b, c, (2**60 + p.x)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (-2**30, -2**30, [0] * 5, P(2**53+1, 1e308)),
    (256, 2**31, range(5), P(I(2**61), (1, 2.5))),
    ((1, 2.5), 'abc', {0: 1, 1: 2.5}, S(255, I(5))),
    ('abc', 1, [1.5, -0.0, 2.5], P(1e308, 2**30-1)),
]
