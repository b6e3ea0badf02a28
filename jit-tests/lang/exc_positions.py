"""Lines and columns of each kind of operation that raises, written over several lines."""

from support import each


class Bad:
    __repr__ = lambda self: "Bad()"

    def __getattr__(self, name):
        raise AttributeError(f"no {name}")

    def __iter__(self):
        raise OSError("no iteration")

    def __bool__(self):
        raise ValueError("no truth")

    def __eq__(self, other):
        raise ArithmeticError("no equality")

    def __format__(self, spec):
        raise LookupError("no format")

    def __enter__(self):
        raise RuntimeError("no entry")

    def __exit__(self, *a):
        pass


def at(how, x, y):
    if how == 0:
        return (x +
                y)
    if how == 1:
        return x[
            y
        ]
    if how == 2:
        x.attribute = (
            y)
    if how == 3:
        return (1, 2,
                x.missing.deep)
    if how == 4:
        return x(y,
                 key=x)
    if how == 5:
        a, b = (
            x)
    if how == 6:
        return [i for i in
                x]
    if how == 7:
        return (1 if x
                else 2)
    if how == 8:
        return x < y < 3
    if how == 9:
        return f"{1}{x:{y}}"
    if how == 10:
        with x as z:
            pass
    if how == 11:
        del x[y]
    if how == 12:
        return y in \
            x
    if how == 13:
        x[y] += 1
    if how == 14:
        return -x
    if how == 15:
        return {**x}
    if how == 16:
        return print(*x)
    if how == 17:
        for i in x: pass
    if how == 18:
        return not x
    if how == 19:
        match x:
            case 1:
                return 1
    if how == 20:
        return {x: 1}, {y, x}
    if how == 21:
        assert y == 3, x
    if how == 22:
        return x[1:y]
    if how == 23:
        del x.name
    if how == 24:
        return unknown_name
    if how == 25:
        return x if y else z


each(at, *[(how, x, y) for how in range(26) for x, y in ((Bad(), 1), (None, "y"), ([], {}))], times=35)
