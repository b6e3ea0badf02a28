"""Functions of very many parameters, and calls of very many arguments, by position, keyword and star."""

from support import hot

NAMES = [f"p{i}" for i in range(60)]
space = {}
exec(f"def wide({', '.join(NAMES)}): return p0 + p59 * 2, sum(({', '.join(NAMES)},))", space)
exec(f"def by_name(x): return wide({', '.join(f'{n}=x + {i}' for i, n in enumerate(reversed(NAMES)))})", space)
exec(f"def by_place(x): return wide({', '.join(f'x * {i}' for i in range(60))})", space)
exec(f"def too_few(x): return wide({', '.join('x' for i in range(57))})", space)
exec(f"def too_many(x): return wide({', '.join('x' for i in range(64))})", space)
exec(f"def defaulted(a, {', '.join(f'{n}={i}' for i, n in enumerate(NAMES))}): return a, p3, p59", space)
wide, by_name, by_place, too_few, too_many, defaulted = (
    space[n] for n in ("wide", "by_name", "by_place", "too_few", "too_many", "defaulted"))


def starred(items):
    return wide(*items)


def mixed(items, names):
    return wide(*items, **names)


def some_default(i):
    return defaulted(i, p3=i), defaulted(i, 1, 2, 3, 4), defaulted(*range(i))


hot(by_name, 1)
hot(by_place, 0.5)
hot(too_few, 1)
hot(too_many, 1)
hot(starred, list(range(60)))
hot(starred, range(61))
hot(mixed, range(58), {"p58": 1, "p59": 100})
hot(mixed, range(58), {"p57": 1, "p59": 100})
hot(mixed, range(58), {"p58": 1, "p60": 100})
hot(mixed, range(50), {"p59": 1})
hot(some_default, 8)
hot(some_default, 70)
