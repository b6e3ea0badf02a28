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
        try:
            for v in range(19):
                w %= (p.y > a)
                b = (not (2**64 // G))
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
                if 2**63 and a:
                    continue
            b = (int(p.x) // (G * G))
        finally:
            log('finally', v)
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a &= (p.x + p.x)
        raise
    del c[-1]
    return a, b, c, (p.limit >= p.x)

CALLS = lambda: [
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (1.0, 10, [1, 2.5, 'x'], S(None, -float('inf'))),
    (0, float('nan'), [1, 2, 3], P(True, 2**60)),
    (float('inf'), 5e-324, {0: 1, 1: 2.5}, P(-1.5, -1.5)),
    (5e-324, 2.0**63, ['a', 'b'], P(I(5), 2**63)),
    (-2**30, 1e308, [], S(-float('inf'), 1)),
    (2**30-1, I(5), (1, 2, 3), P(I(5), ())),
]
