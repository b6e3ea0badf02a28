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
        v, w = w, v
        log((~-1), (len(c) << (p.x & 70)))
    except Exception as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    a = ((-7 <= p.y) / (+p.y))
    w %= (-1 % 2)
    v = (+(~v))
    w &= (b // p.y)
    return a, b, c, (b if v is not v else a)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    ((1, 2.5), 255, [1, 2.5, 'x'], P(10, 'a')),
    (2**60, True, 'abc', P(I(2**61), -1.5)),
    (255, 2**64, [1.5, -0.0, 2.5], S(1e308, False)),
    ((), 0.0, [], P(-1.5, 10**30)),
    (-2**63-1, 'é☃', {0: 1, 1: 2.5}, P(-7, -1)),
    (10**30, -2**63, (1, 2, 3), S(-1e308, I(2**61))),
]
