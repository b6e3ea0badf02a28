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
    v = not w
    if a >= len(c):
        if G < G:
            log((p.x / p.y), (0.1 if len(c) in c else G))
        elif G > len(c):
            v, w = c
            try:
                w = ((not 1.0) + (G * -2**60))
            except LookupError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
                p.y = (len(c) << (G & 70))
            else:
                log(c[True], (-0.0))
    else:
        if -0.0 is not 1:
            try:
                a ^= (a >> a)
            except TypeError as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
                a = ((p.y / w) % bool(G))
            finally:
                log('finally', 2**60)
        else:
            if 1e308 <= p.limit:
                v %= (p.y * 256)
                c[True] += 2**64
            try:
                w = (v > v)
            except Exception as error:
                log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
                p.step(log(0))
            else:
                w = (c[1] ^ (w % b))
        a = (c[0] + (2.0**63 < 2**30))
    if 2.0**53 is p.limit:
        b = (p.limit is not b)
    else:
        c[-1] += p.x
    b //= (1e308 * p.y)
    try:
        if 0 or p.y:
            v = not w
            v = helper(G)
    except Exception as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        w //= (v % 10)
    return a, b, c, (+G)

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (0.0, 2**64, [2**60, 2**63, -1], P(0.1, '')),
    (-2**63, -0.0, ['a', 'b'], P(-2**30, None)),
    (2**62, 2**60-1, [2**60, 2**63, -1], S(2, float('inf'))),
    (1.0, float('inf'), 'abc', S(float('inf'), 2.0**63)),
    ('a', 1e308, ['a', 'b'], P(1e308, 5e-324)),
]
