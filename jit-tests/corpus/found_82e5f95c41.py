# compiled at once: internal: references: bb1: v10 = guard_type at @7: v1 has 1 references, not 2
# bb1: returns: v1 has 2 references, not 1
# function "f1" {
# bb1 {@0 [v1 v0] []}:
#     v0: Nullptr = null
#     v1: Object = arg 0
#     store_slot 1 v1 at @2
#     v10: LongExact = guard_type LongExact v1 guarded {@7 [v1 v1] [&v1 &v1]}
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

VALUES = [[k % 11 - 4 for k in range(11)], [k % 11 - 4 for k in range(11)], [k % 11 - 4 for k in range(11)]]

def f0(a):
    p = 0
    q = 0
    r = 0
    a = (-a)
    a = a
    return a
def f1(a):
    p = a
    a = a
    a += a
    return a

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
    return i

CALLS = lambda: [(1, 2, [], P(1, 2))] * 6
