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
        v = [p.limit, a]
        log((a if len(c) and 1 else 2**60), c[2])
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        v = (False if p.y < b <= w else (p.x % a))
    else:
        v = ((len(c) is not G) // (a if 2.0**53 and 256 else p.limit))
    finally:
        log('finally', p.x)
    if p.y or p.y:
        for v in range(5):
            log(bool(p.limit), (v / G))
            log((p.limit // 2**30-1), (v is 2**63))
            try:
                v = (p.x and -0.0)
            except TypeError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
                v = type(p.y).__name__
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            if b in c:
                break
    else:
        p.y += w
        for i2 in c if type(c) is not list else list(c):
            v = not w
            if v:
                w = ((256 % 0.0) / (p.y if p.x or w else p.limit))
                w //= (p.limit ^ p.y)
            v, w = w, v
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            if G < p.limit:
                continue
    return a, b, c, c[1]

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2, 255, (1, 2, 3), S(-1e308, -2**30)),
    ((), 7, 10**30, P(-0.0, 2**60)),
    (-2**63, 2**31, 'abc', P(-1.5, 2**63-1)),
    (2**31, 2**30, [1.5, -0.0, 2.5], P(0.1, 2**30)),
    (1, 'abc', [2**60, 2**63, -1], P(-2**63, I(5))),
    (2.0**63, 1e308, 2, P(2**60-1, float('nan'))),
]
