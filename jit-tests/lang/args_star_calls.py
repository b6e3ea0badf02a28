"""Calls with stars from lists, iterators, generators that raise, and what is no iterable; parts and order of what is passed."""

from support import each


def take(*args, **kwargs):
    return args, list(kwargs.items())


def several(a, b):
    return take(0, *a, 1, *b, last=2)


def counted(n, error=None):
    for i in range(n):
        yield i
    if error is not None:
        raise error


class Sized:
    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i > 2:
            raise IndexError(i)
        return i * 10


class BadIter:
    def __iter__(self):
        return 5


def from_generator(n, error):
    return take(*counted(n, error))


def exact(a, b, c):
    return a, b, c


def star_exact(items):
    return exact(*items)


def tail(first, *rest):
    return first, rest if len(rest) < 5 else (len(rest), rest[-1])


def same_tuple(t):
    return take(*t)[0] == t, tail(*t)


each(several, ((1, 2), [3]), ("ab", {4: 5}), ((), ()), (range(3), Sized()), (5, ()), ((), None), (BadIter(), ()))
each(from_generator, (3, None), (0, None), (2, ValueError("from the generator")), (0, KeyError(1)))
each(star_exact, ((1, 2, 3),), ([1, 2],), ("wxyz",), (Sized(),), (1.5,))
each(same_tuple, ((1, 2, 3),), ((1,),), (tuple(range(300)),), ((),))
