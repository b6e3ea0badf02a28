"""with: where __enter__ and __exit__ are looked up, what is missing, truth of what __exit__ gives, targets that fail, rebound classes."""

from support import each, hot


class No:
    pass


class OnlyEnter:
    def __enter__(self):
        return 1


class OnlyExit:
    def __exit__(self, *a):
        return 1


class OnInstance:
    def __init__(self):
        self.__enter__ = lambda: 1
        self.__exit__ = lambda *a: 1


class Truth:
    def __bool__(self):
        raise ArithmeticError("truth")


class Gives:
    def __init__(self, value, leave=None):
        self.value, self.leave = value, leave

    def __enter__(self):
        return self.value

    def __exit__(self, *a):
        return self.leave


class Static:
    __enter__ = staticmethod(lambda: "static")
    __exit__ = staticmethod(lambda kind, value, trace: kind is not None)


class Wrong:
    def __enter__(self):
        return 0

    def __exit__(self):
        return 0


def use(m, fail):
    with m as got:
        if fail:
            raise ValueError("body")
    return got


def targets(m):
    out = [0, 0]
    with m as (a, *out[1:]):
        pass
    return a, out


def into(m, box):
    with m as box.value, m as box.items[0]:
        pass
    return box.value


def changing(n):
    out = []
    for i in range(n):
        if i == n // 2:
            Gives.__enter__ = lambda self: "changed"
        with Gives(i) as got:
            out.append(got)
    return out[n // 2 - 1:n // 2 + 1]


for fail in (False, True):
    each(use, *[(m, fail) for m in (No(), OnlyEnter(), OnlyExit(), OnInstance(), Gives(3), Gives(3, 1), Gives(3, Truth()), Gives(3, ""),
                                    Static(), Wrong(), 5)])
each(targets, (Gives((1, 2, 3)),), (Gives([1]),), (Gives(()),), (Gives(5),))
each(into, (Gives(1), No()), (Gives(1), 5))
hot(changing, 100, times=1)
