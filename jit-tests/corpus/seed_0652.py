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
    try:
        log((p.x * a), (b // 2))
        try:
            b |= (0.1 / p.limit)
            a = (c[1] if p.x and a else (~p.x))
            raise KeyError(2**30)
        except LookupError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        else:
            w = (c[-9] % True)
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        v //= c[2]
    else:
        del c[2]
    finally:
        log('finally', G)
    v += (p.limit + v)
    c.append((w if v <= b else v))
    return a, b, c, (2 * p.limit)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    ('', 256, [], P(0.1, -2**60)),
    (2**53+1, 2**31, [], S(False, -1.5)),
    (1.0, 255, {0: 1, 1: 2.5}, S('é☃', -0.0)),
    (10**30, 0.1, 255, P(-1, 3)),
    (2**30-1, 2, (1, 2, 3), P(7, -1)),
    (1, True, [True, False, 1], S(5e-324, 'é☃')),
]
