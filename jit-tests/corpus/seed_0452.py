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
    log((b % len(c)), abs(len(c)))
    global G; G = b
    if a:
        for v in range(16):
            try:
                v %= (2**30 * 2.0**53)
                raise ZeroDivisionError(p.limit)
            except ArithmeticError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
                w = bool(p.limit)
            finally:
                log('finally', b)
            c.append((v // 2.0**53))
            for i2 in range(6):
                c.append((b // 2.0**53))
                log(type(p.limit).__name__, (w - 5e-324))
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
                if G >= 1.0:
                    continue
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            if p.y < w:
                break
    a, b = b, a
    return a, b, c, (b - 1)

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (3, None, [1, 2.5, 'x'], S('a', -2**63)),
    (-7, -2**30, [True, False, 1], S(1e308, 7)),
    (-2**63, 1, [True, False, 1], P(2**30, 2**64)),
    (1, -1.5, 2**30-1, P(-2**63-1, 0)),
    (2**63, -0.0, [1, 2, 3], P(I(5), 255)),
    (I(2**61), 256, [1.5, -0.0, 2.5], P(3, 'é☃')),
]
