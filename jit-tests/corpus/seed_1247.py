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
    v = type(G).__name__
    for v in range(13):
        try:
            log((v // p.limit), (len(c) >> p.limit))
        except ArithmeticError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        else:
            v = ((a * len(c)) + (G * len(c)))
        c.append((1 // p.x))
        a += abs(p.y)
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    return a, b, c, (p.limit if 255 > len(c) else len(c))

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (3, 2**60, [], S(2.0**63, 10)),
    (256, 3, [0] * 5, P(1e308, 3)),
    (False, float('nan'), [2**60, 2**63, -1], P(-1, 2**63)),
    ((1, 2.5), 10**30, ['a', 'b'], P(1.0, float('nan'))),
]
