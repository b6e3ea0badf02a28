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
    w = type(w).__name__
    v &= bool(2)
    v += (3 * len(c))
    if -1 is w:
        w = ((a ^ w) // G)
        i1 = 0
        while i1 < 8 and p.x == p.limit:
            i1 += 1
            a |= (a)
            log((G if b is not v else 2.0**63), p.x)
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            if len(c) < len(c):
                break
    else:
        v = p.step(p.limit)
        try:
            log((p.x // -1e308), (w + len(c)))
        except (TypeError, ValueError) as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    return a, b, c, (p.limit % p.limit)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (-float('inf'), -2**30, {0: 1, 1: 2.5}, P((1, 2.5), -2**63-1)),
    (I(5), 'a', (1, 2, 3), P(-float('inf'), -2**63-1)),
    ((1, 2.5), -float('inf'), [True, False, 1], S(-2**63-1, ())),
    (2**63-1, (1, 2.5), 'abc', S(5e-324, -0.0)),
    (5e-324, 10, [True, False, 1], S(-2**60, -2**60)),
    (-2**63-1, 5e-324, ['a', 'b'], P(None, 'a')),
]
