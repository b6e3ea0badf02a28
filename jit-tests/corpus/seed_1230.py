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
    v = (G is p.limit)
    v = (2.0**63 is not -7)
    w = (c[2] * (255 / 2**64))
    w /= (3 % 2**63)
    try:
        b %= (p.x + v)
    except ArithmeticError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        b *= (p.y + p.y)
    else:
        b -= (w > 2)
    return a, b, c, (v if v is v else p.x)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (-2**63, I(5), {0: 1, 1: 2.5}, P(255, 'é☃')),
    ((1, 2.5), 0.0, {0: 1, 1: 2.5}, P(0, 'a')),
    (2**30, 2**31, {0: 1, 1: 2.5}, P(2**30-1, 10)),
    (True, 'a', [1.5, -0.0, 2.5], P(2**31, -1.5)),
    (1, -7, (1, 2, 3), S(-2**60, 'a')),
]
