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
    v, w = (p.limit in c), (2.0**63 - b)
    try:
        if w != p.y:
            if b is not p.x:
                a *= (1.0 - w)
            v = helper(p.limit)
        else:
            log((b // w), c[len(c) - 1])
        log((p.limit * G), (p.y // len(c)))
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    finally:
        log('finally', p.limit)
    w = ((p.x is not v) // abs(1.0))
    if len(c) in c:
        try:
            a = (c[-1] + 'a')
            i1 = 0
            while i1 < 3 and float('inf') > p.y:
                i1 += 1
                v = a
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
        else:
            w = bool(p.y)
        finally:
            log('finally', a)
    elif w and b:
        v = ''
    c[2] += p.limit
    return a, b, c, int(p.limit)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (2**31, 2**60, {0: 1, 1: 2.5}, P(0, ())),
    (1.0, -1e308, [0] * 5, P(0, -0.0)),
    (I(5), 2**30-1, [2**60, 2**63, -1], P(True, 255)),
    (2**63-1, -2**30, [0] * 5, P((), ())),
    (10, 1.0, ['a', 'b'], S(5e-324, -0.0)),
    ((1, 2.5), '', [1, 2, 3], P(-1e308, -1.5)),
]
