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
    v += (w is b)
    a //= (p.y - -float('inf'))
    try:
        try:
            v = not w
            try:
                p.step((p.y is not 0))
            except TypeError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
                b &= (G >= v)
                raise
            else:
                a /= (p.limit + 0)
            raise KeyError(len(c))
        except LookupError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    except Exception as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a -= helper(5e-324, w)
        raise
    return a, b, c, (p.y * float('inf'))

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2**63-1, None, [2**60, 2**63, -1], S('abc', -2**63-1)),
    ((1, 2.5), 10, [2**60, 2**63, -1], S(2, -1.5)),
    (float('nan'), 1.0, 2**63, P(1.0, 2**64)),
]
