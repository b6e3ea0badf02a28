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
    w = (a <= p.x)
    if G != 256:
        c.append((5e-324 % -7))
    try:
        v, *w = c
        a += p.x
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    finally:
        log('finally', b)
    w = p.both
    return a, b, c, (-7 - 2**63-1)

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (-2**63, -7, [0] * 5, P(-0.0, 3)),
    (1.0, 1e308, [1, 2.5, 'x'], S(5e-324, -2**30)),
    ('', '', [2**60, 2**63, -1], P(1e308, -7)),
    (-2**60, 2**60-1, True, P(2**60-1, 10**30)),
    (2**63, 2**60-1, [1, 2.5, 'x'], P(0.1, -2**63)),
    (7, 1e308, range(5), P(-float('inf'), 2**53+1)),
]
