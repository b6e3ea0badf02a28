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
    for v in range(9):
        try:
            v &= (p.x - p.limit)
        except ArithmeticError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            log(c[a], (+5e-324))
        else:
            log((+p.limit), (p.limit >= 5e-324))
        b //= c[1]
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        if p.limit or a:
            break
    b |= (G - p.x)
    v, w = w, v
    w = ((p.x // p.limit) / (a * p.limit))
    i2 = 0
    while i2 < 13 and p.x > p.limit:
        i2 += 1
        for w in c if type(c) is not list else list(c):
            v, *w = c
            b //= 256
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        else:
            log((p.limit & G), c[a])
        for i4 in range(18):
            if 10 is len(c):
                w = ((a // a) % (3 - -1))
                w = ((b % p.y) & len(c))
            a = ((-2**63-1 if -2**30 != len(c) else v) if not G else abs(10))
            v = not w
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
    else:
        v -= (2.0**63 / p.limit)
    return a, b, c, p.step(2**62)

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    ('', 7, ['a', 'b'], P(-1.5, 1.0)),
    (2, -2**63-1, range(5), S('abc', False)),
    (2**64, 'é☃', [1, 2, 3], P(5e-324, 10)),
    (-2**30, 7, [True, False, 1], P(float('nan'), -2**63)),
]
