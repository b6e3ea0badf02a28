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
    for v in range(20):
        for w in c if type(c) is not list else list(c):
            w = p.both
            for w in c if type(c) is not list else list(c):
                w = (log(p.x) if 2 is not p.limit else (G >> p.limit))
                log(min(p.limit, v), (p.x / len(c)))
                b &= 1
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
                if a is not a:
                    continue
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        try:
            v = (p.limit != 2**63)
            b = b
        except LookupError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        else:
            a /= (v + -0.0)
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        if v:
            break
    else:
        v = ((-float('inf') % w) % (b / p.limit))
    b *= (a * b)
    b = (-2**63-1 * (a > 2.0**63))
    a, b = b, a
    return a, b, c, (-2**64)

CALLS = lambda: [
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (True, 7, [1, 2, 3], P(1, 2)),
    (False, -2**63, 'abc', P(float('nan'), ())),
    (-2**30, '', ['a', 'b'], S(0, 1e308)),
    (I(5), 255, {0: 1, 1: 2.5}, P(-2**60, 2**60-1)),
    (2**62, False, [1, 2.5, 'x'], S(5e-324, -2**63)),
    (-1.5, I(5), [2**60, 2**63, -1], P(2.0**53, 2**53+1)),
    (1.0, 5e-324, [0] * 5, P(2**60-1, 5e-324)),
]
