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
    for i1 in range(15):
        try:
            w = ((~w) // (7 != a))
            log((2**30-1 + w), (len(c) % -1e308))
        except Exception as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            raise
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    else:
        del c[1]
    try:
        if p.y < 0 <= p.x:
            log((a / 2**30-1), c[-9])
        elif float('nan') or len(c):
            v, w = (p.y / p.y), bool(-0.0)
            w = log(-1e308)
        log((-2**60 >= p.x), float(7))
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        log((5e-324 >> b), (w * p.y))
        raise
    finally:
        log('finally', v)
    return a, b, c, (v % 3)

CALLS = lambda: [
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (0.1, 'é☃', 'abc', S(float('nan'), 2.0**53)),
    (True, 7, [True, False, 1], S(1, 0)),
    (256, -0.0, [], P(2**63-1, -2**63)),
    (-2**63, 2**53+1, ['a', 'b'], P(1, 3)),
    (2**63, -0.0, [1, 2, 3], P(0.1, I(2**61))),
    (1, (1, 2.5), ['a', 'b'], P(2**30-1, -float('inf'))),
]
