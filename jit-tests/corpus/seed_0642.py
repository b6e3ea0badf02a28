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
    if len(c) and 2**31:
        w ^= (w is not 2.0**63)
        try:
            v = c[a]
        except TypeError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        else:
            log((G << (len(c) & 70)), c[2])
        finally:
            log('finally', a)
    w = ((w in c) // (7 * len(c)))
    a = 0.1
    v, w = (2 % len(c)), 2
    return a, b, c, (p.limit or b)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (0, None, 'abc', S(2**62, 1)),
    ('é☃', 10, ['a', 'b'], P(2**63, ())),
    (2**64, float('nan'), 255, P(-1e308, 5e-324)),
    (5e-324, 2**63, 'abc', S((1, 2.5), 'abc')),
    ('é☃', 'a', [1, 2, 3], S('a', float('nan'))),
    (2**53+1, 'é☃', [2**60, 2**63, -1], P(0.1, 10**30)),
]
