"""Comparison of users' objects: reflected ones, NotImplemented, results that are no bool, chains evaluated once, identity, defaults, errors."""

from support import each, hot

log = []


def kind(name, base=object, **methods):
    def method(op, result):
        def m(self, other):
            log.append(f"{name}.{op}")
            if isinstance(result, Exception):
                raise result
            return result
        return m
    space = {f"__{k}__": method(k, v) for k, v in methods.items()}
    return type(name, (base,), {**space, "__repr__": lambda self: name, "__hash__": object.__hash__})


Less = kind("Less", lt=True, le=False, gt="text", ge=[], eq=None, ne=0)
Not = kind("Not", lt=NotImplemented, le=NotImplemented, gt=NotImplemented, ge=NotImplemented, eq=NotImplemented, ne=NotImplemented)
OnlyEq = kind("OnlyEq", eq=True)
Fails = kind("Fails", lt=LookupError("lt"), eq=OSError("eq"), ne=KeyError("ne"), gt=IndexError("gt"))
SubLess = kind("SubLess", Less, gt="sub gt", eq="sub eq", lt="sub lt")
NoTruth = type("NoTruth", (), {"__bool__": lambda self: 1 / 0, "__repr__": lambda self: "NoTruth"})
Gives = kind("Gives", lt=NoTruth(), eq=NoTruth(), gt=1)


def all_six(a, b):
    out = []
    for f in (lambda: a < b, lambda: a <= b, lambda: a == b, lambda: a != b, lambda: a > b, lambda: a >= b):
        log.clear()
        try:
            out.append((f(), list(log)))
        except (TypeError, LookupError, OSError) as error:
            out.append((str(error), list(log)))
    return out


def branch(a, b):
    out = []
    if a < b:
        out.append("less")
    if not a == b:
        out.append("differs")
    out.append("big" if a > b else "small")
    return out


def chain(a, b, c):
    log.clear()
    return a < b < c, a < b == c > a, not a < b <= c, list(log)


def identity(a, b):
    return a is b, a is not b, a is None, (a,) == (b,), [a] != [b], a in (b,)


def containers(a, b):
    return a < b, a == b, a >= b


def sorting(items):
    return sorted(items), min(items), max(items)


values = [Less(), Not(), OnlyEq(), Fails(), SubLess(), 1, "x"]
each(all_six, *[(a, b) for a in values for b in values[:5]], times=31)
each(branch, (Less(), 1), (Gives(), 1), (Fails(), 1), (Not(), Not()), (1, Less()), (1.5, 2), ("a", "b"), ("a", 1), (None, None))
each(chain, (1, 2, 3), (Less(), 1, 2), (1, Less(), 2), (Gives(), 1, 2), (3, 2, 1), (1.0, 1, True), ("a", "b", "c"), (1, 2, "c"), (Fails(), 1, 1))
nan = float("nan")
each(identity, (nan, nan), (1, True), (None, None), ((), ()), (Less(), Less()), (2**70, 2**70), ("a", "a"))
each(containers, ([1, 2], [1, 3]), ([1, nan], [1, nan]), ((1, "a"), (1, 2)), ([[]], [[[]]]), ([Less()], [1]), ("ab", "abc"), ({1}, {1, 2}), ({1: 2}, {1: 2}), ([Fails()], [1]), ((1,), [1]), (b"a", b"b"), (range(3), range(0, 3)))
each(sorting, ([3, 1, 2],), ([2.5, True, -1],), (["b", "a"],), ([(2, "a"), (1, "z")],), ([1, "a"],), ([],), ([nan, 1, 2],))
