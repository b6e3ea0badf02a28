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
    b *= (G and a)
    if v == p.limit:
        w = ((p.y // G) + (b if 1 > v else -0.0))
        a //= (v % -7)
    a -= (G * a)
    try:
        w = ((-1.5 / len(c)) // c[2])
        c.append(False)
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a = ((-v) + (p.y // len(c)))
        raise
    else:
        p.y += -1e308
    log((b - 0), p.x)
    return a, b, c, (len(c) if w is not G else 5e-324)

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (0.1, '', 'abc', P(0, 2)),
    (255, -2**60, (1, 2, 3), S(2.0**63, 2**60)),
    (False, -0.0, 'abc', P('abc', 2**64)),
    (-2**63-1, 255, [], P(-1.5, 2**30)),
]
