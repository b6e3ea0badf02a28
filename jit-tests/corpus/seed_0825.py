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
    v = (w := (v ^ p.limit))
    v = p.both
    try:
        try:
            w /= (p.limit + p.limit)
        except TypeError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            v |= min(b, p.y)
    except ArithmeticError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        raise
    a ^= (not a)
    return a, b, c, (w // b)

CALLS = lambda: [
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (2**30-1, -2**60, float('nan'), S(2**63-1, 3)),
    (2**60-1, 2**62, [0] * 5, P(1e308, -7)),
    (float('inf'), 2.0**53, 'abc', P('a', 1e308)),
    (2**62, False, range(5), S(2**62, False)),
    (3, 1e308, [1, 2, 3], S(2, 2**60)),
    (0, I(5), [], P(5e-324, I(2**61))),
]
