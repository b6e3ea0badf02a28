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
    w = c[v]
    try:
        v, w = (p.y <= 2.0**53), (p.x * p.limit)
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a *= c[1]
    else:
        c[-1] += b
    return a, b, c, (G % w)

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (10, 1.0, range(5), P(2**63, 2**62)),
    (False, 10, [2**60, 2**63, -1], S(10, 'é☃')),
    (-7, -1.5, [0] * 5, S(2**60, None)),
    (-1, 'é☃', 0, P(None, 2)),
    (256, 1e308, [True, False, 1], S(7, float('inf'))),
    (256, 0, [True, False, 1], P(7, 2.0**63)),
]
