"""What was in a cell was checked before it was known which number that is; then an edge takes the number out of it."""


def swapped(a, b=1.5, c=1):
    one = 1
    try:
        d = c
        if 2**62 < b:
            pass
    finally:
        for i in (b,):
            a += i
        a += one
    if len:
        a, c, b = (a, b, c)
    return a, b, c, d
    unused = lambda x: a


def carried(b=3.25):
    a = 1
    n = 0
    while n < 5:
        n += 1
        t = (a,)

    def inner():
        k = n
        return a

    return t, inner()


def scaled(x, y):
    return x * 2.0 + y


def moved(pairs, x, limit):
    total = 0.0
    for a, b in pairs:
        if a < limit:
            total = total + scaled(x, x)
        total += b
    return total


for k in range(200):
    swapped(k)
    carried()
    moved([(1, 0.5), (2, 1.5), (3, 2.5)], 0.5 * k, 3)
for k in range(60):
    swapped(0.5)
    carried(k)
print(swapped(3), swapped(0.25), swapped(2, 2**70, 5), carried(), carried(7))
print(moved([(1, 0.5), (2, 1.5), (3, 2.5)], 0.5, 3), moved([(1, 2), (5, 1.5)], 2, 3))
