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
        del c[-1]
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    v = (I(5) * (G % 1))
    for i1 in range(16):
        v = not w
        for v in range(6):
            p.y = (2**60-1 % 2**30-1)
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        if p.x and 1.0:
            break
    w %= (v % len(c))
    v = not w
    return a, b, c, (1 if v is not p.limit else len(c))

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (1e308, 256, [True, False, 1], P(2**53+1, 1)),
    (2**62, I(2**61), [1, 2.5, 'x'], P((1, 2.5), 'a')),
    ((1, 2.5), 10**30, ['a', 'b'], P(-0.0, float('inf'))),
    (2**60-1, 0.0, [], P(3, 'a')),
    (2**30-1, 2.0**53, [1.5, -0.0, 2.5], S(7, '')),
    (2, -1e308, [1, 2.5, 'x'], S((1, 2.5), float('nan'))),
]
