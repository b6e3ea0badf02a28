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
        b &= (b & b)
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        a %= G
    log((p.y * -2**63), (1 * p.y))
    for v in range(16):
        w = ((G - len(c)) | c[v])
        a, b = b, a
        try:
            try:
                p.x += b
                log((0 + w), log(G))
                raise ValueError(p.y)
            except ArithmeticError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            else:
                a = b
            for i2 in range(15):
                a = ((G // -1) if w is not v else (0 / b))
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        except TypeError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            w = c[0]
            raise
        finally:
            log('finally', 0.1)
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    i3 = 0
    while i3 < 10 and 2**63-1 <= a:
        i3 += 1
        log((len(c) * p.limit), (G - p.x))
        for i4 in c if type(c) is not list else list(c):
            try:
                a |= (-2.0**53)
                v = ((256 & -2**63) if -7 != w else (not v))
            finally:
                log('finally', len(c))
            a, b = b, a
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
    log((p.y if v else w), 5e-324)
    return a, b, c, (p.limit // 2**30)

CALLS = lambda: [
    (1, 1e308, 'abc', P(2**64, 1e308)),
    (2**63, 2**64, [1, 2.5, 'x'], P((1, 2.5), False)),
    (1e308, -1.5, range(5), S(-1.5, 2**30)),
    (2**60-1, -0.0, [], P(2, 0.1)),
    (-2**30, 7, (1, 2, 3), P(2**62, True)),
    (-7, -1.5, 'abc', P(2.0**63, (1, 2.5))),
]
