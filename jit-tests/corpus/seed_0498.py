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
    if G and p.x:
        v = helper(256)
    else:
        try:
            b ^= (2**30-1 // p.x)
            w = ((v * a) * (p.y % 2**30-1))
        except TypeError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            v = ((-0.0 - w) // (a > len(c)))
        i1 = 0
        while i1 < 19 and len(c) >= len(c):
            i1 += 1
            for v in range(16):
                a = (+(p.limit is not 10))
                w = False
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
                if a:
                    continue
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            if v < a:
                break
        else:
            w *= (+b)
    del c[-1]
    v, *w = c
    c[1] = (len(c) + -1.5)
    v -= (v is a)
    return a, b, c, (G / v)

CALLS = lambda: [
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    ((), 256, (1, 2, 3), S(-0.0, 'a')),
    (0.0, '', [1, 2.5, 'x'], S(2**53+1, I(2**61))),
    ('', 2**53+1, {0: 1, 1: 2.5}, P(2**60, 'é☃')),
    (1e308, 1e308, {0: 1, 1: 2.5}, S(0, 2**63-1)),
]
