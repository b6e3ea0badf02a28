"""Format specifications: of ints, floats, text and others, nested ones, __format__ of users, wrong specs and wrong results."""

from support import each


class Format:
    def __init__(self, result=None):
        self.result = result

    def __format__(self, spec):
        if isinstance(self.result, Exception):
            raise self.result
        return f"<{spec}>" if self.result is None else self.result


class Str(str):
    """A subclass of str may be what __format__ gives."""


class Inherited:
    def __repr__(self):
        return "inherited"


def ints(x):
    return f"{x:d} {x:5d} {x:<5} {x:^7} {x:+} {x: } {x:05} {x:x} {x:#X} {x:#b} {x:o} {x:,} {x:_} {x:c} {x:e} {x:.2f} {x:n} {x:%}"


def floats(x):
    return f"{x:.3f} {x:10.2e} {x:g} {x:G} {x:%} {x:+.1f} {x:,.2f} {x:010.3f} {x:.0f} {x:#.0f} {x:n} {x!r:>20} {x:z.1f}"


def texts(x):
    return f"{x:s} {x:10} {x:>10} {x:^10} {x:*<10} {x:.2} {x:=^6.3}|"


def dynamic(x, fill, width, precision, kind):
    return f"{x:{fill}>{width}.{precision}{kind}}"


def any_spec(x, spec):
    return f"{x:{spec}}", format(x, spec)


def plain(x):
    return f"{x:}", f"{x}", format(x)


def kinds(x):
    out = f"{x}"
    return type(out).__name__, out


each(ints, (65,), (-3,), (0,), (2**70,), (True,), (1.5,), ("x",), (1114112,))
each(floats, (3.14159,), (-0.0,), (1e300,), (float("nan"),), (float("-inf"),), (7,), ("x",), (2**2000,), (0.04,))
each(texts, ("text",), ("",), ("äöü𝄞",), (5,), (Str("sub"),))
each(dynamic, (3.5, "*", 10, 2, "f"), ("abc", "-", 6, 2, "s"), (5, "x", 4, 1, "d"), (1, "", 5, "", "d"), (1.0, "{", 8, 3, "g"))
each(any_spec, (1, "z"), (1, ">>"), ("a", "d"), ("a", "=5"), ([], "5"), ([], ""), (None, "x"), (1.5, "d"), (1, ".5d"), (3j, ".1f"), (1, "99999999999999999999"), (1, ",_d"), (1, ",x"),
     (Inherited(), ""), (Inherited(), "5"), (Format(), "own"), (Format(5), "y"), (Format(None), "q"), (Format(LookupError("in format")), "s"), (int, ""), (int, "s"))
each(plain, (Format(),), (Format("given"),), (Inherited(),), (Format(b"bytes"),))
each(kinds, (Str("s"),), (Format(Str("sub")),), (1,))
