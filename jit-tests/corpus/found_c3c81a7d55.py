# CRASH SIGSEGV
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

VALUES = [[1] * 40 + [0.0, 2, -0.5], [k % 11 - 4 for k in range(11)], [1] * 40 + [0.0, 2, -0.5]]

def f0(a):
    p = a
    q = 0.0
    r = 1
    if (0 >> 3) > p:
        q = ((p / a) // (-1 * a))
    r = (q + 1.5)
    a = a
    return (a if q else 3)
def f1(a):
    a = a
    a = max((a + 2), a)
    return 0.5
def f2(a, b):
    p = 1.5
    b *= a
    p ^= b
    return (abs(7) if (b * b) >= (a * p) else (a - p))

def target(a, b, c, p):
    for i in range(150):
        try:
            log(f0(VALUES[0][i // 1 % len(VALUES[0])]))
        except Exception as error:
            trace = error.__traceback__.tb_next
            log(type(error).__name__, str(error), trace and trace.tb_lineno)
        try:
            log(f1(VALUES[0][i // 1 % len(VALUES[0])]))
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
