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
    b //= (2 if b < b else G)
    for w in c if type(c) is not list else list(c):
        for w in c if type(c) is not list else list(c):
            v = not w
            for i3 in c if type(c) is not list else list(c):
                c.append((-w))
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
                if w != v:
                    break
            w = ()
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        v = helper(len(c))
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    w += (w if v >= p.limit else 1e308)
    if 3 < p.y:
        if 7 >= p.x:
            v //= c[-9]
            v += p.step(v)
        if not p.limit:
            b |= (w + 255)
    else:
        try:
            w *= (G + 10)
        except LookupError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            c[True] = (p.x / -2**60)
        w = p.both
    return a, b, c, (p.limit // v)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (float('inf'), float('inf'), ['a', 'b'], P(float('nan'), False)),
    (I(2**61), I(5), [2**60, 2**63, -1], P(2**64, 2**63)),
    (2**30-1, 'a', [1, 2.5, 'x'], P(255, 7)),
    (2, 2**53+1, [1.5, -0.0, 2.5], S(-2**63-1, 2**60)),
    (2, 0.1, [1, 2, 3], S(False, 2**31)),
    (-1, -float('inf'), [1.5, -0.0, 2.5], P(-2**63, 10)),
]
