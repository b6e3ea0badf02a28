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
        w = p.both
        a = ((G // a) / (a if p.y > v else 0))
    finally:
        log('finally', len(c))
    try:
        b = (log(a) + (-2**30 - p.x))
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        w = (False % (p.y * G))
    else:
        c.append((p.limit - G))
    b /= c[True]
    return a, b, c, (2**60-1 - 3)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (3, 3, ['a', 'b'], S(2**53+1, (1, 2.5))),
    (1e308, (1, 2.5), [1.5, -0.0, 2.5], P('é☃', 1.0)),
    (0, False, range(5), P(2.0**63, 2**60-1)),
    (2**62, 'é☃', [], P('', I(2**61))),
    (0, '', [2**60, 2**63, -1], P(3, False)),
    (-2**30, 2**62, [1.5, -0.0, 2.5], P(2**60-1, 0)),
]
