"""Loops over rows of lists that are left in the midst: by rows that are short, items of other classes, rows replaced by finalisers; and
truth values that come from lists."""


class Odd:
    """Neither a number nor a truth value of the builtin kind."""

    def __init__(self, name, truth=True):
        self.name, self.truth = name, truth

    def __bool__(self):
        return self.truth

    def __mul__(self, other):
        return 1000.0

    __rmul__ = __mul__

    def __del__(self):
        DIED.append(self.name)


DIED = []


def product(a, b, n):
    out = []
    for i in range(n):
        row = a[i]
        line = []
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += row[k] * b[k][j]
            line.append(s)
        out.append(line)
    return out


def square(n, seed):
    return [[(i * seed + j) % 7 / 2.0 for j in range(n)] for i in range(n)]


def attempt(*args):
    try:
        return product(*args)
    except Exception as error:
        return type(error).__name__, str(error), error.__traceback__.tb_next.tb_lineno


def products():
    n = 9
    for _ in range(20):
        good = product(square(n, 3), square(n, 5), n)
    print(sum(map(sum, good)))
    for at in range(n):
        for change in ("short", "int", "odd", "tuple", "none", "missing"):
            a, b = square(n, 3), square(n, 5)
            if change == "short":
                b[at].pop()
            elif change == "int":
                a[at][n - 1 - at] = at
            elif change == "odd":
                b[at][at] = Odd("item")
            elif change == "tuple":
                b[at] = tuple(b[at])
            elif change == "none":
                b[at] = None
            else:
                del b[at]
            result = attempt(a, b, n)
            print(at, change, result if isinstance(result, tuple) else [sum(line) for line in result])
    print(len(DIED))


def flagged(flags):
    count = 0
    for flag in flags:
        if flag:
            count += 1
        if not flag:
            count += 100
    return count


def flagged_by_index(flags):
    count = i = 0
    while i < len(flags):
        if flags[i]:
            count += 1
        i += 1
    return count


def clear(flags, start, step):
    for j in range(start, len(flags), step):
        flags[j] = False
    return flags


class Eraser:
    """When it dies, the list it was in is another."""

    def __init__(self, flags):
        self.flags = flags

    def __del__(self):
        self.flags[:] = [True, True]


def truths():
    plain = [True, False, True] * 20
    for _ in range(50):
        flagged(plain), flagged_by_index(plain), clear(list(plain), 1, 3)
    print(flagged(plain), flagged_by_index(plain))
    for other in (0, 1, 2 ** 70, 0.0, "", "x", None, [], [0], Odd("truth", False)):
        mixed = plain + [other] + plain
        print(flagged(mixed), flagged_by_index(mixed))
        mixed.append(other)
        del mixed, other
    print(DIED[-1])
    for step in (1, 2, 7, 61):
        print(step, sum(clear([True] * 60, 3, step)))
    erased = [True] * 40
    erased[20] = Eraser(erased)
    try:
        clear(erased, 0, 4)
    except IndexError as error:
        print(error, len(erased), erased)


def left_early(n, at):
    """Loops left by break, return, an exception, and gone on with."""
    turns = 0
    for i in range(n):
        turns += 1
        if i == at:
            break
        if i & 1:
            continue
        turns += 1
    for i in range(n, 0, -1):
        if i == at:
            return turns, i
        turns += i
    while True:
        turns -= n
        if turns < 0:
            raise ValueError(turns)


def leaving():
    for at in (-1, 0, 1, 5, 39, 40, 41):
        for _ in range(30):
            try:
                result = left_early(40, at)
            except ValueError as error:
                result = repr(error)
        print(at, result)


products()
truths()
leaving()
