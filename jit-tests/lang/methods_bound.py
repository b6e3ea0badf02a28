"""Methods that are loaded first and called later: in locals, in loops, of classes of the program and of the interpreter's."""
import sys


class Sum:
    def __init__(self, total=0):
        self.total = total

    def add(self, x, times=1):
        self.total += x * times

    def get(self):
        return self.total

    @classmethod
    def make(cls, total=0):
        return cls(total)

    @staticmethod
    def twice(x):
        return 2 * x

    def __del__(self):
        LOG.append(self.total)


LOG = []


def in_a_local(n):
    s = Sum()
    add = s.add
    for i in range(n):
        add(i)
    add(1, 2)
    add(1, times=3)
    return s.total, add.__self__ is s, add.__func__ is Sum.add, add.__name__


def of_an_argument(s, n):
    add, get = s.add, s.get
    for i in range(n):
        add(i)
    return get()


def each_time(s, n):
    for i in range(n):
        add = s.add
        add(i)
    return s.total


def of_nothing_else(n):
    add = Sum(3).add
    for i in range(n):
        add(i)
    return add.__self__.total


def compared(s):
    a, b = s.add, s.add
    return a is b, a == b, a is a, hash(a) == hash(b)


def appended(n):
    out = []
    append = out.append
    for i in range(n):
        append(i * 2)
    return out, type(append).__name__, append.__self__ is out


def others(n):
    text, parts, found = "a,b,c", [], {}
    split, put, get = text.split, parts.extend, found.get
    for i in range(n):
        put(split(","))
        found[i % 3] = get(i % 3, 0) + 1
    return len(parts), found


def of_the_class(n):
    make, twice = Sum.make, Sum(0).twice
    total = 0
    for i in range(n):
        total += make(i).total + twice(i)
    s = Sum(1)
    again = s.make
    return total, again(5).total


def changed(s, n):
    add = s.add
    seen = []
    for i in range(n):
        if i == n - 2:
            s.add = lambda x: seen.append(x)
        add(i)
        again = s.add
        again(i)
    return s.total, seen


def wrong(s):
    add = s.add
    try:
        add()
    except TypeError as e:
        return str(e)


def raising(n):
    class Odd:
        def check(self, x):
            if x == n - 1:
                raise ValueError(x)
            return x

    check = Odd().check
    total = 0
    try:
        for i in range(n):
            total += check(i)
    except ValueError as e:
        tb = e.__traceback__
        lines = []
        while tb:
            lines.append(tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno)
            tb = tb.tb_next
        return total, e.args, lines, check.__self__.__class__.__name__


def looked_at(n):
    s = Sum()
    add = s.add
    found = []
    for i in range(n):
        add(i)
        if i % 5 == 4:
            frame = sys._getframe()
            found.append(frame.f_locals["add"].__self__ is s)
    return found, s.total


def passed_on(n):
    s = Sum()
    add = s.add
    for i in range(n):
        add(i)
    return add


def replaced(n):
    add = Sum(1).add
    LOG.append("one")
    for i in range(n):
        add(i)
    add = Sum(2).add
    LOG.append("two")
    add(n)
    add = None
    LOG.append("three")


for n in (0, 3, 40):
    for _ in range(40):
        del LOG[:]
        results = (
            in_a_local(n),
            of_an_argument(Sum(), n),
            each_time(Sum(5), n),
            of_nothing_else(n),
            compared(Sum()),
            appended(n),
            others(n),
            of_the_class(n),
            changed(Sum(), n) if n > 1 else None,
            wrong(Sum()),
            raising(n),
            looked_at(n),
            passed_on(n).__self__.total,
            replaced(n),
        )
    print(results)
    print(LOG)
