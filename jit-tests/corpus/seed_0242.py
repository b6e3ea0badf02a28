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
    w = ((w % G) if a < 255 else (b / v))
    try:
        log((b * p.y), log(p.limit))
    except ArithmeticError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    finally:
        log('finally', len(c))
    if a >= v:
        if not 2**60-1:
            v &= (b * p.x)
            for i1 in range(11):
                log(G, p.x)
                p.y = (w / len(c))
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    a = ((p.limit < -1) - (b if G != v else p.y))
    return a, b, c, (a)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    ('abc', 1, {0: 1, 1: 2.5}, P(5e-324, 5e-324)),
    (10**30, 3, 2**53+1, P(10**30, 256)),
    (2**60-1, 10**30, [0] * 5, P(-2**63-1, -7)),
    (7, 2**62, (1, 2, 3), P('', -7)),
    (1.0, 10**30, {0: 1, 1: 2.5}, P(10**30, I(2**61))),
]
