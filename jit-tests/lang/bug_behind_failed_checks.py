"""Code behind a check that always fails was taken for code: what is said of values there is not true."""


class Bare:
    pass


class Failure(Exception):
    pass


def tested(p, k=1.0):
    def inner():
        nonlocal p

    for _ in range(1):
        if 1 << 30 <= (p and p) <= 1:
            pass
    return k - k


def unpacked(*rest):
    for i in range(1):
        for j in range(i):
            a, b, c, d = (d,)
    n = 0
    while True:
        n += 1
        if n > 5:
            return n


def emptied(p):
    one = 1
    for i in (one, p):
        for j in range(3):
            pass
    del p
    try:
        v = p
    except UnboundLocalError:
        pass
    v = isinstance()
    return (v + p for c in missing)


def rebound(a, b, p, k=2.5):
    for i in range(7):
        n = 0
        while n:
            n += 1
    del p
    try:
        v = p
    except UnboundLocalError:
        p = v = 1
    n = 1
    while True:
        n -= 1
        if n:
            break
        x, y, z = (p, 0.0, a)
        s, (t, u), _ = (z, (v, z), y)
    return v, p


def handled(a, b, k=0.1):
    kind = Bare
    one = 1
    for i in (kind, a):
        n = 1
        for j in (a, n, one, k):
            pass
    items = [b for c in range(1)]
    try:
        for i in items:
            if None:
                pass
    except Failure as e:
        pass


def compared():
    known = True
    turns = 0
    while 1:
        v = 10000000000.0 if known is None else 2**64
        if type:
            if (v >= v) != 100.0:
                break
            turns += 1
    return turns


def raised(f, *args):
    try:
        f(*args)
    except Exception as e:
        return type(e).__name__


for turn in range(120):
    tested(turn)
print([tested(0, k=0) for turn in range(57)] == [0] * 57)
print({unpacked() for turn in range(60)})
print([raised(emptied, 1 if turn < 40 else 1.5) for turn in range(80)].count("TypeError"))
print({rebound(5, turn, 1) for turn in range(60)}, rebound(True, 1, True))
print({handled(1, 1) for turn in range(60)})
print({compared() for turn in range(132)})
