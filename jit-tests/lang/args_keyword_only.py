"""Keyword-only parameters: with and without defaults, after stars, missing ones, positional in their place, __kwdefaults__ changed."""

from support import each, hot


def only(*, a, b=2):
    return a, b


def after(x, *rest, sep="-", end):
    return sep.join(map(str, (x, *rest))) + end


def many(*, a, b, c, d=4, e):
    return a, b, c, d, e


def calls(n):
    s = 0
    for i in range(n):
        a, b = only(a=i)
        s += a * b
        a, b = only(b=i, a=1)
        s += a - b
    return s


def wrong(how):
    match how:
        case 0:
            return only()
        case 1:
            return only(1)
        case 2:
            return only(1, 2, a=3)
        case 3:
            return only(a=1, c=2)
        case 4:
            return after(1, 2, 3)
        case 5:
            return after(end="!")
        case 6:
            return many(a=1, d=2)
        case 7:
            return many(1, 2, 3)
        case 8:
            return many()
        case 9:
            return after(1, 2, sep="/", end=".", other=1)


def changed():
    out = []
    for i in range(90):
        if i == 40:
            only.__kwdefaults__ = {"b": 20, "a": 10}
        if i == 60:
            only.__kwdefaults__["b"] = "mutated"
        if i == 80:
            only.__kwdefaults__ = None
        try:
            out.append(only(a=1) if i % 3 else only())
        except TypeError as error:
            out.append(str(error))
    return [out[i] for i in (0, 1, 39, 40, 42, 59, 60, 61, 79, 80, 81)]


hot(calls, 50)
each(after.__call__, (1,))
each(wrong, *[(i,) for i in range(10)])
for row in changed():
    print(row)
