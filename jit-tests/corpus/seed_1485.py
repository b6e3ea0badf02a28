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
    v, *w = c
    a = ((b if 2**31 is p.limit else 10) % (-2**63 >> v))
    v = [b for q in range(4)]
    try:
        for i1 in range(3):
            a -= (p.x / 2**63-1)
            p.y += 7
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        v, w = (+2**63), (2**30-1 / G)
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a = ((+-2**60) * c[5])
    return a, b, c, (7 or p.limit)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5e-324, float('nan'), range(5), S(255, 'é☃')),
    (2**60-1, (1, 2.5), {0: 1, 1: 2.5}, P(10**30, 256)),
    (True, I(5), [1.5, -0.0, 2.5], S((), 'é☃')),
    (3, float('inf'), 'abc', P(-2**63, 10)),
    (1.0, 2.0**53, [True, False, 1], P('a', -1.5)),
    (3, 2**63, [True, False, 1], P(True, 2**31)),
]
