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
    b = c[-1]
    w = -1e308
    try:
        if v in c:
            for i1 in c if type(c) is not list else list(c):
                w %= c[True]
                b %= (b | p.limit)
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            else:
                w = ((G if len(c) < a <= p.x else G) // (G <= a))
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        w ^= (v if 2**60 < G <= 256 else a)
        raise
    else:
        v = (~(b - p.x))
    finally:
        log('finally', len(c))
    return a, b, c, (w / 0.1)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (255, 2**63, ['a', 'b'], P(2.0**63, -2**30)),
    (255, -1.5, [1, 2, 3], P(2.0**53, -2**63-1)),
    (2**60-1, 1e308, 2**30-1, P(255, I(5))),
    (3, -1, {0: 1, 1: 2.5}, S(10, 2**30-1)),
    (2**30-1, '', [0] * 5, P(-2**30, 2**60)),
    (2**53+1, 0, (1, 2, 3), P(2**30, True)),
]
