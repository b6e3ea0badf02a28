"""Binary operators on user classes: reflected ones, subclasses first, NotImplemented both ways, errors, and what the message says."""

import operator

from support import each, hot

log = []
OPS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor"}


def logged(name, result):
    def method(self, other):
        log.append(f"{type(self).__name__}.{name}")
        if isinstance(result, Exception):
            raise result
        return result
    return method


def kind(name, left, right, base=object):
    space = {"__repr__": lambda self: name}
    for op in OPS.values():
        if left is not None:
            space[f"__{op}__"] = logged(f"{op}", left)
        if right is not None:
            space[f"__r{op}__"] = logged(f"r{op}", right)
    return type(name, (base,), space)


Left = kind("Left", "left", None)
Right = kind("Right", None, "right")
Neither = kind("Neither", NotImplemented, NotImplemented)
Sub = kind("Sub", "sub left", "sub right", Left)
SameSub = type("SameSub", (Left,), {})
Fails = kind("Fails", LookupError("left fails"), ArithmeticError("right fails"))
Nothing = type("Nothing", (), {"__repr__": lambda self: "Nothing"})
IntSub = kind("IntSub", None, "int sub right", int)
Forbidden = type("Forbidden", (), {"__add__": None, "__radd__": None, "__mul__": 5})
compiled = {op: eval(f"lambda a, b: a {op} b") for op in OPS}


def both(op, a, b):
    log.clear()
    try:
        return compiled[op](a, b), list(log)
    except TypeError as error:
        return str(error), list(log)


def every(a, b):
    out = []
    for op in OPS:
        log.clear()
        try:
            out.append((op, compiled[op](a, b), len(log)))
        except (TypeError, LookupError, ArithmeticError) as error:
            out.append((op, str(error), list(log)))
    return out


pairs = [(Left(), 1), (1, Right()), (Left(), Right()), (Neither(), Right()), (Neither(), Neither()), (Left(), Sub()), (Sub(), Left()), (Left(), SameSub()), (Neither(), 1), (2.5, Neither()),
         (Fails(), 1), (1, Fails()), (Neither(), Fails()), (Nothing(), Nothing()), (Nothing(), "s"), (5, IntSub(3)), (IntSub(3), 5), ([], Right()), ("s", Right()), ((), Nothing())]
each(every, *pairs, times=32)
each(both, ("+", Forbidden(), 1), ("+", 1, Forbidden()), ("*", Forbidden(), 2), ("*", 2, Forbidden()), ("+", Left(), Forbidden()))
hot(lambda: [getattr(operator, n if n not in ("and", "or") else n + "_")(Left(), 1) for n in OPS.values()])
