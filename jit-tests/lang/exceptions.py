"""raise, try, except, else, finally: order, re-raising, chaining, context, matching, groups, assertions; in loops."""


class Mine(Exception):
    def __init__(self, n):
        super().__init__(f"mine {n}")
        self.n = n


def raises(n):
    if n % 5 == 0:
        raise Mine(n)
    if n % 7 == 0:
        raise KeyError(n)
    return n


def handled(n):
    s = 0
    for i in range(1, n):
        try:
            s += raises(i)
        except Mine as error:
            s += error.n * 1000
        except (KeyError, IndexError):
            s -= 1
        else:
            s += 1
        finally:
            s += 2
    return s


def order(n):
    out = []
    for i in range(n):
        try:
            try:
                out.append("try")
                if i == n - 1:
                    1 / 0
                if i == n - 2:
                    continue
            finally:
                out.append("finally")
        except ZeroDivisionError:
            out.append("except")
        else:
            out.append("else")
    return out[-9:], len(out)


def returns(n):
    for i in range(n):
        try:
            if i == n - 1:
                return "try", i
        finally:
            if i == n - 3:
                break
    return "broke", i


def overrides():
    try:
        return 1
    finally:
        return 2


def swallows(n):
    for i in range(n):
        try:
            raise ValueError(i)
        finally:
            continue
    return "swallowed"


def chained():
    try:
        {}["k"]
    except KeyError as error:
        raise ValueError("outer") from error


def context():
    try:
        1 / 0
    except ZeroDivisionError:
        [].pop()


def silent():
    try:
        1 / 0
    except ZeroDivisionError:
        raise TypeError("quiet") from None


def reraise(n):
    try:
        raises(n)
    except Exception:
        raise


def bare():
    raise


def states(n):
    """sys.exception() is right inside and after handlers, in loops."""
    import sys
    out = set()
    for i in range(n):
        try:
            raises(5)
        except Mine:
            out.add(type(sys.exception()).__name__)
            try:
                raises(7)
            except KeyError:
                out.add(type(sys.exception()).__name__)
            out.add(type(sys.exception()).__name__)
        out.add(type(sys.exception()).__name__)
    return sorted(out)


def checks(n):
    for i in range(n):
        assert i < 350, f"i is {i}"


def shape(error):
    return None if error is None else (type(error).__name__, str(error), shape(error.__cause__), shape(error.__context__), error.__suppress_context__)


print(handled(400), order(300), order(2), returns(400), overrides(), swallows(300), states(300))
for f, args in [(chained, ()), (context, ()), (silent, ()), (reraise, (5,)), (reraise, (7,)), (bare, ()), (checks, (400,)), (handled, ("x",))]:
    try:
        f(*args)
    except Exception as error:
        trace = error.__traceback__
        lines = []
        while trace:
            lines.append(trace.tb_lineno)
            trace = trace.tb_next
        print(shape(error), lines)
for bad in (5, int, "text", object(), Mine):
    try:
        raise bad
    except TypeError as error:
        print(error)
try:
    try:
        raises(5)
    except "not a class":
        pass
except TypeError as error:
    print(error)
try:
    raise ExceptionGroup("g", [ValueError(1), TypeError(2), ExceptionGroup("h", [ValueError(3)])])
except* ValueError as group:
    print(group.exceptions)
except* TypeError as group:
    print(group.exceptions)


def late(n):
    s = 0
    try:
        for i in range(n):
            s += 10 // (n - 1 - i)
    except ZeroDivisionError as error:
        s = -s
        return s, i, str(error)


print(late(400))
