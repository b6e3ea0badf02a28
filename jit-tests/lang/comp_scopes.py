"""Names in comprehensions: what leaks, shadows, is captured or deleted; walrus out of them; class bodies; locals() within."""

from support import hot

glob = 100


def shadows(x):
    a = [x for x in range(3)]
    b = {x: [x for x in range(x)] for x in range(3)}
    c = [[x + y for x in range(y)] for y in (x, x + 1)]
    return x, a, b, c


def first_outside(items):
    items = [items for items in items]
    return items, [glob + i for i in items if i < glob]


def walrus(items):
    found = [last := item for item in items if (half := item / 2) > 1]
    total = 0
    sums = [total := total + i for i in items]
    return found, last, half, sums, total, any((hit := i) > 3 for i in items), hit


def captured(n):
    fs = [lambda: i for i in range(n)]
    gs = {k: (lambda: (k, n)) for k in range(2)}
    n += 10
    return [f() for f in fs], [g() for g in gs.values()], sum((lambda j: j + n)(i) for i in range(3))


def unbound(flag):
    if flag:
        y = [1]
    return [y for x in range(2)], [x for x in y]


def deleted():
    x = 5
    out = [x for _ in (1, 2)]
    del x
    try:
        return out, [x for _ in (1,)]
    except NameError as error:
        return out, str(error)


def looked():
    a = 1
    inside = [sorted(locals()) for b in (1,)]
    return inside, sorted(locals())


def in_class(n):
    class C:
        base = n
        values = [i * 2 for i in range(base)]
        try:
            bad = [base for i in range(2)]
        except NameError as error:
            bad = str(error)
        pairs = {k: n for k in values}
        n = n + 1
    return C.values, C.bad, C.pairs, C.n


def cells(n):
    def bump():
        nonlocal n
        n += 1
        return n
    return [bump() + n for _ in range(3)], n


hot(shadows, 2)
hot(first_outside, [1, 200, 3])
hot(walrus, [1, 4, 5, 0])
hot(walrus, [])
hot(captured, 3)
hot(unbound, True)
hot(unbound, False)
hot(deleted)
hot(looked)
hot(in_class, 3)
hot(cells, 1)
