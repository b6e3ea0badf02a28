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
    v = ((~b) if w < v else log(G))
    try:
        try:
            w |= (p.x * b)
        except Exception as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            del c[5]
        finally:
            log('finally', p.limit)
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        log((1e308 > -0.0), (p.limit + w))
    p.x += 10**30
    a, b = b, a
    return a, b, c, (p.limit / 2.0**53)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (2.0**63, 2**30-1, [0] * 5, S(2**63, 2**60-1)),
    (-2**30, I(2**61), [True, False, 1], P('a', -1.5)),
    (255, 0.0, [1.5, -0.0, 2.5], P(2**64, 2.0**53)),
]
