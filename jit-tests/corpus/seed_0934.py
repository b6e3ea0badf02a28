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
    a += (p.y / p.limit)
    v = (2**60 == p.y)
    try:
        a -= c[True]
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a = ((+2**63) // (v))
    v *= (p.y * a)
    b = min(p.y, 2**31)
    return a, b, c, I(5)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (2**60-1, -7, 3, P(float('nan'), 1)),
    (2**31, 2**60-1, [2**60, 2**63, -1], P(-2**63-1, ())),
    (2**63, 2, [1.5, -0.0, 2.5], P(-float('inf'), -1.5)),
]
