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
    log((~p.y), (0 ^ 1))
    try:
        for v in range(14):
            for i2 in range(10):
                v = (not c[v])
                v = (0.0 is v)
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            p.step(min(a, p.limit))
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        v += (p.y // p.y)
    except Exception as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        v = ((2**53+1 - p.y) // (G // -1e308))
    finally:
        log('finally', p.limit)
    v = [a, a]
    try:
        log((p.x & 2**30), (p.limit * a))
    except ArithmeticError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    w -= (not p.limit)
    return a, b, c, (b * len(c))

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (2.0**53, 7, -2**63, P('', -2**30)),
    (2**31, 'é☃', -1, P(-1, 7)),
    (2**31, 2**64, [0] * 5, P(7, True)),
    ('abc', -float('inf'), ['a', 'b'], P(2**64, 2**60)),
    (-1.5, 0.0, [1, 2.5, 'x'], P(I(5), 7)),
]
