"""Where a hint contradicts what the program's flow proves, the guard always leaves."""


def f(x, flag):
    y = x
    if flag:
        y = 1 + 2 * len(x)
    try:
        if not y:
            return "empty"
        return y[0]
    except TypeError as e:
        return str(e)


def g(x, n):
    total = 0
    for i in range(n):
        total = total + i
    if x is not None:
        total = x
    # Mostly a bool comes here.
    if total:
        return [total, not total]
    return total


def h(n, wanted):
    y = n + 1
    if wanted is not None:
        y = wanted
    z = y
    if z:
        return z + 0.5
    return z


for k in range(100):
    f([1, 2], False), g(True, 3), h(k, 2.5)
print(f([1, 2], False), f([], False), f([1, 2], True))
print(g(True, 3), g(False, 3), g(None, 3), g(None, 0))
print(h(3, 2.5), h(3, None), h(-1, None))
