# compiled when hot: refused, since the audit lost track of a slot whose number is made at exits
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

def small(v):
    """What does not grow without end."""
    if type(v) is int or type(v) is float:
        return v if -1e30 < v < 1e30 else 1
    if type(v) is list or type(v) is tuple or type(v) is str:
        return v if len(v) < 12 else 0
    return v

VALUES = [[k % 7 - 3 if k % 3 else (k % 5 - 2) * 0.25 for k in range(21)], [1] * 40 + [0.0, 2, -0.5], [k % 11 - 4 for k in range(11)]]

def f0(a):
    p = 1
    p |= abs(2**40)
    a = a
    p = ((p if a <= (p + a) else 1.5) / 3)
    p = (p // (a * p))
    return (-(a >> 1))
def f1(a, b):
    p = True
    p = ((a + a) - (p // p))
    if not b:
        if (p if (p // p) != abs(b) else p) != a: return b
        if a != (2**40 + True):
            a = ((p // b) if (b % p) == (b - 1) else min(p, a))
    elif (p / a) == min(b, -0.0):
        b = 2
        if b:
            a = ((-p) | (b % 0))
            a = a
    p = ((2 * b) + (b - a))
    if a >= p:
        if (0 % b) <= (-p):
            a = ((3 / 2**40) + (a | b))
        else:
            p = 1.5
            b ^= -1
    else:
        if not b: return (b + a)
        if abs(0.5) != (p & b): return (p | p)
    return ((7 * True) // (a if (a * a) > 7 else p))
def f2(a, b, c):
    c = ((c // b) >> 3)
    c = c
    b |= (c - 0.5)
    c = ((c + b) >> 60)
    return (a | 0.5)

def target(a, b, c, p):
    for i in range(150):
        try:
            log(f0(VALUES[0][i // 1 % len(VALUES[0])]))
        except Exception as error:
            trace = error.__traceback__.tb_next
            log(type(error).__name__, str(error), trace and trace.tb_lineno)
        try:
            log(f1(VALUES[0][i // 1 % len(VALUES[0])], VALUES[1][i // 2 % len(VALUES[1])]))
        except Exception as error:
            trace = error.__traceback__.tb_next
            log(type(error).__name__, str(error), trace and trace.tb_lineno)
        try:
            log(f2(VALUES[0][i // 1 % len(VALUES[0])], VALUES[1][i // 2 % len(VALUES[1])], VALUES[2][i // 3 % len(VALUES[2])]))
        except Exception as error:
            trace = error.__traceback__.tb_next
            log(type(error).__name__, str(error), trace and trace.tb_lineno)
    return i

CALLS = lambda: [(1, 2, [], P(1, 2))] * 6
