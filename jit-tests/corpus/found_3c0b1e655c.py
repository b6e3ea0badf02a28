# in the LIR interpreter, call 0:
#   interpreted: (('raised', 'AttributeError', "'range' object has no attribute 'append'", [('target', 45, (45, 45, 8, 16))], 'NoneType'), 'tuple(inf, -0x0.0p+0, range, P(tuple(int 1, 0x1.4000000000000p+1), int 1))', 'list()', 'int 3', 'int 3')
#   compiled:    (('raised', 'SystemError', 'Objects/listobject.c:527: bad argument to internal function', [('target', 45, (45, 45, 8, 25))], 'NoneType'), 'tuple(inf, -0x0.0p+0, range, P(tuple(int 1, 0x1.4000000000000p+1), int 1))', 'list()', 'int 3', 'int 3')
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
    v, w = w, v
    a, b = b, a
    a, v, w = v, w, a
    for v in range(14):
        b = (not (+p.y))
        c.append((not G))
        if type(a) is int and abs(a) > 2**200: a = 1
        if type(b) is int and abs(b) > 2**200: b = 1
        if type(v) is int and abs(v) > 2**200: v = 1
        if type(w) is int and abs(w) > 2**200: w = 1
        if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
        if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
        if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
        if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
        if b == p.limit:
            continue
    return a, b, c, (1 - b)

CALLS = lambda: [
    (float('inf'), -0.0, range(5), P((1, 2.5), 1)),
    (256, I(2**61), [], P(0.0, -2**63-1)),
    (0.0, -1, [], S(False, -1.5)),
    (float('inf'), '', {0: 1, 1: 2.5}, S(2**30-1, False)),
]
