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
    b = (p.x is not p.y)
    b = int(w)
    v = helper(len(c))
    try:
        log((b * 2**31), (a + p.x))
        p.step((p.x % a))
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        w //= (p.x // 1)
    try:
        try:
            w &= c[-9]
            v = helper(G, v)
        except LookupError as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            p.step(helper(p.x, p.limit))
        finally:
            log('finally', len(c))
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        raise
    else:
        del c[0]
    return a, b, c, (p.limit * G)

CALLS = lambda: [
    (2, -1.5, range(5), P('é☃', 10)),
    (7, 3, {0: 1, 1: 2.5}, P(-0.0, 0.1)),
    (10, True, [0] * 5, P(2**30-1, 255)),
    (2**63-1, -1, [], S(-0.0, 2**60-1)),
]
