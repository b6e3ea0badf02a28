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
    a = c[0]
    v, w = c
    try:
        i1 = 0
        while i1 < 5 and 10**30 or v:
            i1 += 1
            b = (not c[a])
            try:
                b = ((p.y >> p.x) % (v == p.x))
                b = 'é☃'
                raise KeyError(w)
            except LookupError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
                a = ((0 and p.limit) / bool(7))
            c.append((p.limit % p.limit))
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    return a, b, c, 'a'

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (None, 2, 10**30, S(1, 2.0**53)),
    (False, 7, [True, False, 1], S(10**30, 0)),
    (-1e308, 0.1, {0: 1, 1: 2.5}, S(2**64, -0.0)),
    (-7, -7, [2**60, 2**63, -1], P(2, -1.5)),
    (2**30, 2**53+1, [], P(-1e308, '')),
    (2, '', ['a', 'b'], S(1e308, False)),
]
