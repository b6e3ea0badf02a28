# CRASH SIGSEGV
# 
# thread '<unnamed>' (7729) panicked at src/lower/edges.rs:132:22:
# a local whose representation changes has a parameter
# stack backtrace:
# note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
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

VALUES = [[1] * 40 + [0.0, 2, -0.5], [k % 7 - 3 if k % 3 else (k % 5 - 2) * 0.25 for k in range(21)], [True, 2, 3]]

def f0(a, b, c):
    a = ((2 & 3) - b)
    c ^= (c | 2)
    return ((-a) if (a & -0.0) <= b else (1.5 >> 3))
def f1(a, b):
    p = 1.5
    q = 0
    if abs(a) <= 2:
        if q:
            q = (p & q)
            b = (-True)
    else:
        q = b
    if (0 | p) > (p if p else q): return (q >> 60)
    q ^= (b - 7)
    a = ((1.5 // a) / (7 & a))
    return 0
def f2(a, b):
    p = 0
    if (a - 0) != (p + b): return (a if not a else p)
    p = a
    if a:
        b = (-b)
        a = ((a - -0.0) + b)
    else:
        if (b >> 1) != 7:
            p -= p
            p = b
        else:
            b = ((a | p) if a else p)
            p = (b // (7 * b))
        if b:
            p = (p if p else (p << 60))
            a -= (a - p)
    return p

def target(a, b, c, p):
    for i in range(150):
        try:
            log(f0(VALUES[0][i // 1 % len(VALUES[0])], VALUES[1][i // 2 % len(VALUES[1])], VALUES[2][i // 3 % len(VALUES[2])]))
        except Exception as error:
            trace = error.__traceback__.tb_next
            log(type(error).__name__, str(error), trace and trace.tb_lineno)
        try:
            log(f1(VALUES[0][i // 1 % len(VALUES[0])], VALUES[1][i // 2 % len(VALUES[1])]))
        except Exception as error:
            trace = error.__traceback__.tb_next
            log(type(error).__name__, str(error), trace and trace.tb_lineno)
        try:
            log(f2(VALUES[0][i // 1 % len(VALUES[0])], VALUES[1][i // 2 % len(VALUES[1])]))
        except Exception as error:
            trace = error.__traceback__.tb_next
            log(type(error).__name__, str(error), trace and trace.tb_lineno)
    return i

CALLS = lambda: [(1, 2, [], P(1, 2))] * 6
