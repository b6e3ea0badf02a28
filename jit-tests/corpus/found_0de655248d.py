# Disagreed once, in a process that had run many others, and not again in 430 tries; the reason was not kept.
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
    if p.limit >= b:
        v = not w
        del c[a]
    elif -1 > w:
        a %= (w - -1e308)
    if 10 == p.x:
        v = ((p.y if p.limit is not p.x else -7) ^ (G + v))
        v = helper(v)
    else:
        try:
            b %= (a / b)
            i1 = 0
            while i1 < 4 and 255 or 10:
                i1 += 1
                log((p.y // G), I(5))
                log((p.limit * b), c[len(c) - 1])
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        except LookupError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            b |= None
        finally:
            log('finally', w)
        if p.y > b:
            p.y = helper(p.x, b)
    a &= (a < len(c))
    return a, b, c, False

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, I(5), [], S(False, 0.1)),
    (0.1, 2**30, 'abc', P(7, 256)),
    (None, -2**60, [0] * 5, P(I(2**61), (1, 2.5))),
    (float('nan'), 7, range(5), P(2.0**63, 2.0**53)),
]
