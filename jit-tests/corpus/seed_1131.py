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
    try:
        log((0 * p.x), (not a))
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        v += (b // w)
    finally:
        log('finally', p.limit)
    log((p.y & G), (v if p.x is -2**63-1 else float('inf')))
    return a, b, c, (-7 - a)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (2, 1, 'abc', S(0, 0.1)),
    ('abc', 2**63-1, [1, 2, 3], P(-0.0, 0.1)),
    (float('nan'), 10, ['a', 'b'], P(2.0**53, 256)),
]
