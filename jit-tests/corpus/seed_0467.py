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
    i1 = 0
    while i1 < 15 and p.x > v:
        i1 += 1
        v -= (a % a)
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
    if v < p.limit <= p.x:
        try:
            b /= (p.y + 255)
        except ArithmeticError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        else:
            c[True] += 2**30-1
        finally:
            log('finally', len(c))
        p.y = (p.y or 2**30)
    elif G <= p.x:
        log(abs(p.x), p.x)
        w = c[len(c) - 1]
    if len(c) is not float('nan'):
        v = not w
    try:
        log((-1.5 if -1.5 >= p.limit else p.limit), (-7 != len(c)))
        w = p.both
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    finally:
        log('finally', v)
    return a, b, c, (p.x % 1)

CALLS = lambda: [
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.5, 0.5, [1, 2, 3], P(1, 2)),
    (2.0**63, 'abc', 'abc', P(I(5), 2**31)),
    (-1.5, (), range(5), P(-0.0, 2**63-1)),
    (2**53+1, 2.0**53, [True, False, 1], S(10, 10**30)),
]
