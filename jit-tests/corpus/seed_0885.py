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
    if p.y <= -0.0:
        v = not w
    elif G > len(c):
        try:
            try:
                c[1] = c[v]
            except Exception as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            else:
                log((255 % a), (not a))
            w *= (-1 * p.limit)
        except TypeError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            p.step((p.x if len(c) is not p.y else p.y))
        finally:
            log('finally', p.y)
        v = not w
    log((+b), '')
    for v in range(14):
        v = not w
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        if p.x < v:
            continue
    else:
        b -= (~v)
    for i2 in range(17):
        v = not w
        v = helper(-1.5)
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    return a, b, c, (a + p.x)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (2**60-1, -0.0, {0: 1, 1: 2.5}, P(-1e308, 2**60)),
    (False, 'abc', (1, 2, 3), S(2**60-1, 2**60)),
    (-2**30, -2**30, [], P(10**30, 10**30)),
    (2.0**53, -2**63-1, 'abc', P(-1e308, 'abc')),
]
