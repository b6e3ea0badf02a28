"""Exception classes: own __init__ and __str__, attributes, args, errno's subclasses, StopIteration's value, codes, unicode errors, reduction."""

from support import each, hot


class Coded(Exception):
    def __init__(self, code, *, detail="none"):
        super().__init__(code, detail)
        self.code = code

    def __str__(self):
        return f"<{self.code}>"


class Slotted(ValueError):
    __slots__ = ("extra",)


class Plain(Coded):
    code = "class"


def fields(make):
    try:
        raise make()
    except BaseException as e:
        found = {n: getattr(e, n) for n in ("code", "errno", "strerror", "filename", "value", "name", "obj", "object", "start", "end", "reason",
                                           "path", "extra", "msg", "lineno", "offset", "text") if hasattr(e, n)}
        return type(e).__name__, str(e), e.args, sorted(found.items(), key=str), [k.__name__ for k in type(e).__mro__[:-2]]


def slotted():
    e = Slotted(1)
    e.extra = 2
    return e


def attribute():
    return getattr(3, "missing")


def decode():
    return b"ab\xff".decode("utf-8")


def copied(e):
    kind, args, *state = e.__reduce__()
    c = kind(*args)
    return repr(c), c == e, c.args == e.args, state


each(fields, (lambda: Coded(3),), (lambda: Plain(4, detail="more"),), (slotted,), (lambda: OSError(2, "gone", "file"),), (lambda: OSError(17, "there"),),
     (lambda: OSError("one"),), (lambda: StopIteration(7),), (lambda: StopIteration(),), (lambda: SystemExit(3),), (lambda: KeyError("k"),),
     (lambda: KeyError(1, 2),), (attribute,), (decode,), (lambda: UnicodeEncodeError("ascii", "x\u1234", 1, 2, "why"),), (lambda: Coded(),),
     (lambda: ImportError("m", name="n", path="p"),), (lambda: SyntaxError("s", ("f", 1, 2, "t")),), (lambda: KeyboardInterrupt(),),
     (lambda: NameError("n", name="nn"),), (lambda: StopAsyncIteration(1),), (lambda: BlockingIOError(11, "w", 5),), times=35)
each(copied, (ValueError(1, 2),), (KeyError("x"),), (OSError(2, "f"),))
