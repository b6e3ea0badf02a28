"""Ints and floats that meet before a comparison that was bet on: what is known behind the bet is not known in the copy without it."""


def overwritten(a):
    if a < 1:
        a = a * 1.0
    if a * 2 == -2:
        return 7
    return a + 1


def by_default(a=None):
    if a is None:
        a = 0.5
    if a * 2 == 3:
        return 7
    return a + 1


def bits(a, b):
    if a < 1:
        b = b * 1.0
    if b * 2 == -2:
        return 7
    try:
        return b & 1
    except TypeError:
        return "TypeError"


def run(f, rows, times):
    want = None
    for n in range(times):
        found = [(type(r).__name__, r) for r in (f(*row) for row in rows)]
        if want is None:
            want = found
            print(f.__name__, found)
        elif found != want:
            print("differs in turn", n, found)
            return


numbers = [0, 0.0, 2, 3, -1, -2, 0.5, -0.5, 1, 5.0, 7, 4, 4.0]
ORDERS = [[(numbers[(k * step + start) % 13],) for k in range(count)] for step, start, count in
          ((1, 0, 8), (2, 1, 9), (5, 3, 11), (3, 6, 7), (4, 9, 13), (6, 2, 5))]
for order in ORDERS:
    fresh = type(overwritten)(overwritten.__code__.replace(co_firstlineno=overwritten.__code__.co_firstlineno), globals())
    run(fresh, order, 500)
    rows = [*order, (None,), ()]
    fresh = type(by_default)(by_default.__code__.replace(co_name="by_default"), globals(), "by_default", (None,))
    run(fresh, rows, 500)
    fresh = type(bits)(bits.__code__.replace(co_name="bits"), globals())
    run(fresh, [(row[0], other[0]) for row, other in zip(order, order[::-1])], 500)

values = [0.0, 0.0, -2, 2, 7, -1]
want = [1.0, 1.0, -1.0, 3, 8, 7]
wrong = 0
for n in range(20000):
    r = overwritten(values[n % 6])
    wrong += r != want[n % 6] or type(r) is not type(want[n % 6])
print("wrong:", wrong)
