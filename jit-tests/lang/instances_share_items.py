"""An item that a local and a new instance hold, where the local is set again and the code leaves before that."""


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b


def first(l, m):
    a = m[0]
    pair = Pair(m[0], 1)
    a = l[0] - 1


def mixed(l, m):
    a = m[0]
    pair = Pair(m[0], l[0])
    a = m[0] - l[0]
    both = (l[0], l[0])


def main(f, late):
    for t in range(300):
        x, y = 1000 + t, 5000 + t if t < late else 2.5
        m, l = [x, 1], [y, 1]
        if t % 3 == 0:
            m = l
        f(l, m)
        others = [7 + t * 3, 8 + t * 5, 9 + t * 7, 6 + t]
        assert x == 1000 + t and l[0] == y, (t, x, y, l)
    print(f.__name__, x, y, l, others)


for late in (290, 1000):
    main(first, late)
    main(mixed, late)
