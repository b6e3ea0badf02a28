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
        log((-7 * p.limit), (G - -2**60))
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a += (a // p.y)
        raise
    else:
        w = (1, 2.5)
    v -= c[0]
    b = (c[-1] - (-float('inf') / G))
    if len(c) == a:
        a //= (-2.0**63)
        try:
            log((len(c) / len(c)), (len(c) / p.y))
            w |= (p.x != w)
            raise ValueError(a)
        finally:
            log('finally', len(c))
    return a, b, c, log(len(c))

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.0**53, 1.0, [True, False, 1], S(-1.5, -1)),
    (-0.0, 7, [0] * 5, P('a', -7)),
    (-0.0, 1e308, [0] * 5, P(2.0**63, -1.5)),
    (-2**63-1, 'a', I(5), P('abc', 2**63)),
]
