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
    if 2**30 >= float('inf'):
        try:
            a &= (G // G)
        except LookupError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        finally:
            log('finally', w)
    else:
        i1 = 0
        while i1 < 7 and p.x == v:
            i1 += 1
            w = ((0.0 // p.limit) / (v))
            a = ((w + p.x) - (v - v))
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    v = [len(c), a]
    b &= p.step(2.0**53)
    try:
        v = [p.limit, a]
        b &= (0 * a)
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    w = min(p.x, 0.0)
    return a, b, c, (a == len(c))

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (1e308, 1, ['a', 'b'], S(-1e308, -2**60)),
    (1.0, 10**30, -1.5, P(10, I(5))),
    (0, 0, {0: 1, 1: 2.5}, S(7, 0.0)),
    (255, float('nan'), {0: 1, 1: 2.5}, P(5e-324, -1)),
    (1.0, False, [1, 2, 3], P(10, 2**30)),
]
