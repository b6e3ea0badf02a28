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
    log((len(c) - p.x), (G % 2**63))
    log((2**30-1 % p.limit), (p.x % b))
    try:
        del c[-1]
    except (TypeError, ValueError) as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        c.append((p.x - a))
    else:
        a //= (p.x < b)
    finally:
        log('finally', v)
    return a, b, c, (p.x // 1)

CALLS = lambda: [
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (5, 1.5, [1, 2, 3], P(1, 2)),
    (2**60, 2**63, [1, 2, 3], P(1e308, None)),
    (1, (), ['a', 'b'], P(2**62, 256)),
    (float('nan'), None, (1, 2, 3), S('', -7)),
    ('abc', 0.1, {0: 1, 1: 2.5}, S(-float('inf'), 'abc')),
    (-2**63-1, float('nan'), range(5), S('abc', -7)),
    (10**30, 3, [0] * 5, P(float('nan'), -2**30)),
]
