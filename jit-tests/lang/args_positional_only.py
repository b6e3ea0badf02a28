"""Positional-only parameters: given by name, names reused by **kwargs, defaults, and each message."""

from support import each


def two(a, b=1, /):
    return a, b


def reused(a, /, b, *, c=3, **a_too):
    return a, b, c, a_too


def all_kinds(a, b=2, /, c=3, *args, d, e=5, **kwargs):
    return a, b, c, args, d, e, kwargs


def call(how, x):
    if how == 0:
        return two(x)
    if how == 1:
        return two(a=x)
    if how == 2:
        return two(x, b=x)
    if how == 3:
        return two(x, a=x, b=x)
    if how == 4:
        return two()
    if how == 5:
        return two(x, x, x)
    if how == 6:
        return reused(x, a=1, b=2)
    if how == 7:
        return reused(x, 1, b=2)
    if how == 8:
        return reused(b=x)
    if how == 9:
        return all_kinds(x, d=x)
    if how == 10:
        return all_kinds(x, 1, 2, 3, 4, d=x, a=x, z=0)
    if how == 11:
        return all_kinds(x, 1, 2, c=3, d=4)
    if how == 12:
        return all_kinds(x, e=1)
    if how == 13:
        return all_kinds(b=1, d=1)
    return len(a=x)


each(call, *[(how, 7) for how in range(15)])
each(call, *[(how, "text") for how in (0, 6, 9, 10)])
