"""A cell that nobody made carries a number round a loop, before which the class of something else is checked: what leaves there has the number."""

import gc


def floats(p, k=1):
    x = 2.0 if 5 <= k else 1
    if None:
        unused = lambda a: v
    else:
        v = 1000.0
    for i in (k, v, k):
        for j in (p, p, p, p):
            v = 0.0
        x -= 0.0
    return x, v


def ints(p, k=1):
    x = 2.0 if 5 <= k else 1
    if None:
        unused = lambda a: v
    else:
        v = 1000
    for i in (k, v, k):
        for j in (p, p, p, p):
            v = p * 3000
        x -= 0.0
    return x, v


def pairs(p, k=1):
    x = 2.0 if 5 <= k else 1
    v = (p + 1000, 0.5 * p)
    for i in (k, x, k):
        for j in (p, p, p, p):
            v = (p * 3000, v[1] + 1.0)
        x -= 0.0
    return x, v


def objects(p, k=1):
    x = 2.0 if 5 <= k else 1
    v = Two(p + 1000, 0.5 * p)
    for i in (k, x, k):
        for j in (p, p, p, p):
            v.a = v.a + 3000
            v.b += 1.0
        x -= 0.0
    return x, v.a, v.b


class Two:
    def __init__(self, a, b):
        self.a = a
        self.b = b


for f in (floats, ints, pairs, objects):
    for k in range(19):
        f(k)
    print(f.__name__, [f(k) for k in range(12)], [f(2, k) for k in range(12)])
    gc.collect()
    for k in range(300):
        f(k, 7)
    for k in range(300):
        f(k, k % 9)
    gc.collect()
    print(f.__name__, [f(k) for k in range(12)], [f(2, k) for k in range(12)])
