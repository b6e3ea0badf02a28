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
        for i1 in c if type(c) is not list else list(c):
            for i2 in c if type(c) is not list else list(c):
                b -= (p.limit + v)
                p.step(log(w))
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            else:
                b = ((--1.5) - float(w))
            b = (w and p.x)
            if v > v:
                b |= 'a'
            if type(a) is int and abs(a) > 2**200: a = 1
            if type(b) is int and abs(b) > 2**200: b = 1
            if type(v) is int and abs(v) > 2**200: v = 1
            if type(w) is int and abs(w) > 2**200: w = 1
            if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
            if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
            if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
            if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            if p.y or p.limit:
                break
        v = (b % (p.limit % a))
    except ArithmeticError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    else:
        a = (+int(float('nan')))
    if v == len(c):
        c[-9] = int(v)
    elif len(c) < a:
        log((b / 1), (len(c) if b != p.x else v))
        try:
            p.step((256 % 2**62))
            try:
                w = p.step(5e-324)
                v = ((b if 0 is not b else p.x) if v in c else c[-9])
            except ArithmeticError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            else:
                a = (1, 2.5)
        except TypeError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            v -= (3 * G)
        else:
            log((a * a), (v / -1))
    w = type(7).__name__
    if p.x >= p.limit:
        try:
            v = not w
            v = [len(c), a]
            raise ZeroDivisionError(w)
        except ArithmeticError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            a = None
        finally:
            log('finally', 0.0)
        if p.y == v:
            for v in range(22):
                log(p.x, (p.y if len(c) != w else p.limit))
                a = (abs(2**30-1) * type(1).__name__)
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
            w ^= (G << (w & 70))
        else:
            v, w = w, v
    elif b < b:
        b |= c[v]
        log((len(c) / a), (-a))
    try:
        a = ((~G) % (b // v))
        for i4 in range(4):
            v //= ''
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
        b %= c[5]
    return a, b, c, (a % G)

CALLS = lambda: [
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (-2**63, 0, [2**60, 2**63, -1], S(-2**63-1, I(5))),
    (2**31, 10**30, [1.5, -0.0, 2.5], S(2**63, -1e308)),
    (3, 0, [1.5, -0.0, 2.5], P(2**30, 5e-324)),
    (2**60-1, False, 0.0, P('', 2**53+1)),
]
