"""A variable that is a float when its loop begins and an int later: what is computed from it has no class of its own."""


def boom(a):
    raise IndexError(a)


def float_then_int():
    x = 1.5
    y = 0
    for i in range(7):
        if 0 + x >= y:
            x = -3
        else:
            boom(x)
    return 5


def int_then_float(n):
    x = 1
    total = 0
    for i in range(n):
        total = total + x * 2
        if i == 2:
            x = 0.25
    return total, x


def negated():
    x = 2
    seen = []
    for i in range(5):
        seen.append(-x)
        x = x - 0.5 if i % 2 else x + 1
    return seen


for n in range(200):
    results = []
    for f, args in ((float_then_int, ()), (int_then_float, (6,)), (negated, ())):
        try:
            results.append(f(*args))
        except IndexError as error:
            results.append(repr(error))
    if n in (0, 1, 40, 199):
        print(n, results)
