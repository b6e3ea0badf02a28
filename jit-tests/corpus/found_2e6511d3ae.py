# exit code 1
# s, **kwargs)
#            ~~~~~~~~~^^^^^^^^^^^^^^^^^
#   File "/work/wt/py/jit-tests/fuzz_functions.py", line 434, in hunt
#     raise Over
# with_hypothesis.<locals>.Over
# 
# During handling of the above exception, another exception occurred:
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
    w = f'{-7}-{a}'[:30]
    try:
        if b in c:
            p.y = (len(c) / p.x)
        else:
            i1 = 0
            while i1 < 9 and a:
                i1 += 1
                b = ((255 // G) + (p.limit // a))
                p.x += 10
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
                if w <= len(c):
                    break
            for v in range(10):
                del c[len(c) - 1]
                b = ((w & G) % (-float('inf') / b))
                if type(a) is int and abs(a) > 2**200: a = 1
                if type(b) is int and abs(b) > 2**200: b = 1
                if type(v) is int and abs(v) > 2**200: v = 1
                if type(w) is int and abs(w) > 2**200: w = 1
                if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0
                if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0
                if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0
                if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0
                if 2**60 >= v:
                    break
            else:
                p.y = 2**63-1
        v //= (v // 0.0)
    except TypeError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
    finally:
        log('finally', len(c))
    try:
        w = (not (a * G))
        v, w = c
        raise KeyError(b)
    except LookupError as error:
        log(type(error).__name__, str(error), error.__traceback__.tb_lineno)
        v -= (p.x // -1e308)
        raise
    finally:
        log('finally', p.y)
    w /= helper(2**63, b)
    return a, b, c, (a / len(c))

CALLS = lambda: [
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**29, 2**30-1, [1, 2, 3], P(1, 2)),
    (2**63-1, '', range(5), P(2**31, (1, 2.5))),
    (2**53+1, False, (1, 2.5), P(-1.5, -1e308)),
    (0, 2**60, [True, False, 1], P(2**60, 2.0**53)),
    (-2**30, 2**30, range(5), P(2.0**53, 2**31)),
    (1, 2**63, {0: 1, 1: 2.5}, P('abc', 0.1)),
    (-2**30, False, [1.5, -0.0, 2.5], P((1, 2.5), 'é☃')),
]
