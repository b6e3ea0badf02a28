"""Generators and generator expressions whose loop variable starts unbound and is a number: filters over ranges, first entries, no items."""

from support import each, hot


def odd(n):
    return list(j for j in range(n) if j % 2)


def large(n):
    def numbers():
        for j in iterator:
            if j > n:
                yield j
    iterator = iter(range(n * 2))
    return list(numbers())


def halves(items):
    return sum(x for x in items if x > 0.5)


def pairs(n):
    g = ((i, j) for i in range(n) for j in (k for k in range(i) if k % 2))
    return next(g, None), list(g)


def none_of(n):
    return list(j for j in range(n) if j < 0), any(j > n for j in range(n)), max((j for j in range(n) if j > n), default="nothing")


def last_seen(n):
    g = (j for j in range(n) if j % 3 == 0)
    first = next(g, "none")
    return first, g.gi_frame and dict(g.gi_frame.f_locals).get("j", "unbound"), list(g)


each(odd, (0,), (1,), (2,), (5,))
each(large, (3,), (0,))
each(halves, ((0.25, 0.75, 1.0),), ((),), ((0.25,),), ((1, 2, 0),), ([2**80, 1],))
each(pairs, (0,), (2,), (6,))
each(none_of, (4,), (0,))
each(last_seen, (7,), (0,))
hot(odd, 2**5)
