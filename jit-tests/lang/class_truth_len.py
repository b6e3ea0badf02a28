"""Truth of objects: __bool__, __len__, wrong returns, errors, None, in while, and, or, not, conditional expressions, filters and chains."""

from support import each, hot


class Bool:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    def __bool__(self):
        self.asked += 1
        answer = self.answers[(self.asked - 1) % len(self.answers)]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def __repr__(self):
        return f"Bool{self.answers}"


class Len:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        if isinstance(self.n, Exception):
            raise self.n
        return self.n

    def __repr__(self):
        return f"Len({self.n})"


class Both(Len):
    def __bool__(self):
        return True


class NoBool:
    __bool__ = None
    __repr__ = lambda self: "NoBool"


def tests(x):
    out = []
    if x:
        out.append("if")
    out.append(not x)
    out.append("yes" if x else "no")
    out.append([y for y in (1,) if x])
    out.append(x and 1)
    out.append(x or 2)
    out.append(bool(x))
    return out


def loops(x):
    n = 0
    while x:
        n += 1
        if n > 5:
            break
    while not x and n < 9:
        n += 1
    return n


def chains(a, b, c):
    return a and b or c, a or b and c, not (a and b), (a or b) and (not c or a), (a if b else c) if c else (b or a)


def lengths(x):
    return len(x), bool(x)


def changed(n):
    class L:
        pass
    o = L()
    out = []
    for i in range(n):
        if i == n - 4:
            L.__len__ = lambda self: 0
        if i == n - 3:
            L.__bool__ = lambda self: True
        if i == n - 2:
            del L.__bool__
        if i == n - 1:
            del L.__len__
        out.append("true" if o else "false")
    return out[-6:]


values = (Bool(True), Bool(False), Bool(1), Bool(LookupError("bool")), Len(0), Len(3), Len(-1), Len("x"), Len(2**70), Len(True), Len(OSError("len")), Both(0), NoBool(), None, (), "", "x", 0.0, 0, 2**70, -0.0, float("nan"), b"", 0j, range(0), {}, object)
each(tests, *[(v,) for v in values], times=35)
each(loops, *[(v,) for v in (0, "", None, 1, Len(0), Len(-1), NoBool())], times=35)
hot(lambda: loops(Bool(True, True, False)))
each(chains, *[(a, b, c) for a in (0, 1) for b in ("", "b") for c in (None, [1])], (Len(0), 0.0, Both(0)), (1, NoBool(), 0), times=35)
each(lengths, *[(v,) for v in (*values[4:12], [], "ab", {1: 2}, 5, Bool(True), NoBool())], times=35)
hot(changed, 60, times=3)
