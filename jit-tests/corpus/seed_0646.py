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
        try:
            log((2**30 if G is not p.y else p.y), (p.y // v))
            w = ('' / (p.y if 256 and p.limit else a))
            raise ZeroDivisionError(2**31)
        except Exception as error:
            log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
            b *= (255 / p.y)
        finally:
            log('finally', len(c))
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    finally:
        log('finally', len(c))
    v = [10, a]
    p.step((p.limit + p.x))
    a = 'a'
    return a, b, c, (b if -0.0 in c else a)

CALLS = lambda: [
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (3, 4, [1, 2, 3], P(1, 2)),
    (-1, 0, [1, 2.5, 'x'], P(2.0**53, -2**60)),
    (3, 10**30, [], P(2**31, -2**60)),
    (True, -1, [True, False, 1], P(2**64, 256)),
    (-2**63-1, I(2**61), (1, 2, 3), P(2**62, -1.5)),
    (2**62, 2**31, ['a', 'b'], S('', 2.0**53)),
    (0.1, 2.0**63, (1, 2, 3), P((1, 2.5), float('nan'))),
]
