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
    if 256 == 2**30-1:
        v = (min(a, G) // float(p.limit))
        try:
            v = ((-0.0 + 10) - p.x)
        except TypeError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    try:
        try:
            a = ((G * len(c)) / (b << (p.limit & 70)))
            v = not w
        except ArithmeticError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        finally:
            log('finally', 2**63)
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    if w is not -1:
        v, w = (a + len(c)), (len(c) + p.limit)
        v, *w = c
    else:
        w |= (v - a)
        if w and p.y:
            log(c[a], (2**64 / G))
    v ^= (2**31 if p.y >= p.x else float('nan'))
    w = ((p.y // len(c)) - (p.x if p.x or a else -1))
    return a, b, c, (v if v else b)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (2**64, (1, 2.5), [True, False, 1], P(2.0**53, 1e308)),
    ('a', 0, range(5), S(0.0, -2**60)),
    (2**31, 'a', 7, P(5e-324, 2**63)),
    (0, -2**30, [], S(2**30-1, -1)),
]
