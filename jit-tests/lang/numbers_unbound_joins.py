"""Numbers that may be unbound where paths meet, and are of another class than what was bet on behind that."""


def added(c, unbinds):
    try:
        c += 1
        if unbinds:
            del c
    except TypeError:
        pass
    return c + c


def squared(c, unbinds):
    for i in range(3):
        try:
            c += 1
            if unbinds and i == 1:
                del c
        except (TypeError, UnboundLocalError):
            c = 7
    return c * c


def compared(c, unbinds):
    c = c + 1
    if unbinds:
        del c
    try:
        return c < 3, c > 2.5, c == 2
    except UnboundLocalError as e:
        return str(e)


def negated(c, unbinds):
    c = c * 2
    if unbinds:
        del c
    return -c


def show(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return str(e)


# Floats first, of which the bets are, and then ints.
for n in range(12):
    print(n, show(added, 1.5 if n % 3 else None, n % 3 == 2))
for n in range(40):
    print(n, show(added, 1 if n % 3 else 0, n % 3 == 2))
for n in range(240):
    print(n, show(squared, 1.5, n % 4 == 3))
for f in (compared, negated):
    for k, values in enumerate([(1.5, 2.5, None), (1, 0, 2), (0.5, 3, 1.5), (True, 10**30, 2), (1, 2.5, "a")]):
        for n in range(60):
            print(f.__name__, k, n, show(f, values[n % 3], n % 4 == 2))
