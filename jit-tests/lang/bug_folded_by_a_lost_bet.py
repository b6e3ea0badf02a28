"""What was derived from a bet on one side of a join's types does not come to the copy that is made for the other side."""


def is_int(n, flag):
    if flag:
        x = 0.5
    else:
        x = n + 1
    hit = 1 if x else 0
    return hit, isinstance(x, int)


def as_float(n, flag):
    x = 0.5 if flag else n + 1
    hit = 1 if x else 0
    return hit, float(x)


class Own:
    pass


def is_none(n, flag):
    x = 0.5 if flag else n + 1
    hit = 1 if x else 0
    return hit, isinstance(x, float), x is None, x == 2, [x == 2.0]


def helper(x):
    return isinstance(x, int), float(x)


def through_a_call(n, flag):
    x = 0.5 if flag else n + 1
    hit = 1 if x else 0
    return hit, helper(x)


for f in (is_int, as_float, is_none, through_a_call):
    for i in range(600):
        f(i, True)
    print(f.__name__, f(1, True), f(1, False), f(-1, False))
    for i in range(600):
        f(i, False)
    print(f.__name__, f(1, True), f(1, False), f(-1, False))

for f in (is_int, as_float, is_none, through_a_call):
    for i in range(3000):
        f(i, i % 7 == 0)
    print(f.__name__, f(1, True), f(1, False), f(-1, False))
