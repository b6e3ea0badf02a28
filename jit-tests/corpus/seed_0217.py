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
    b %= (p.y / 10**30)
    try:
        a = ((v % G) if 2.0**63 < p.limit else c[-1])
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        w /= (p.limit or len(c))
    finally:
        log('finally', b)
    p.step((~2**30))
    v = (c[True] * (a is -0.0))
    return a, b, c, (p.x + p.y)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (2.0**53, -2**30, [2**60, 2**63, -1], S(2**30-1, 7)),
    (I(5), None, 'abc', P(-1.5, 2**60-1)),
    (None, -1.5, [1, 2, 3], P(5e-324, 5e-324)),
]
