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
    v = I(2**61)
    if v:
        if p.y >= p.y:
            w //= p.y
        else:
            try:
                b %= (G % -2**63)
                a = (v)
            except LookupError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            v = ((G if -float('inf') < 7 else v) if -1 <= a else c[a])
    elif b and 2.0**63:
        v = helper(b)
    w -= (v >> len(c))
    w /= (len(c) // G)
    return a, b, c, (255 / G)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (2**64, (), [2**60, 2**63, -1], S(7, 2.0**53)),
    ((), 2**30, 'abc', P(0.1, -1)),
    (2.0**53, -0.0, 'abc', P(2, None)),
    (-7, -2**60, [2**60, 2**63, -1], P(-1, None)),
    (2**30-1, -0.0, [1, 2.5, 'x'], P('é☃', False)),
    ('a', 2**30-1, [True, False, 1], P(-2**63, 2**60)),
]
