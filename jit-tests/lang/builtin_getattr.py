"""getattr, setattr, hasattr, delattr, vars and dir with names known and computed, defaults, wrong names, and attributes that raise."""

from support import each, hot


class A:
    cls = "class"
    __secret = 1

    def __init__(self):
        self.x = 1

    @property
    def fails(self):
        raise ValueError("fails")

    @property
    def hides(self):
        raise AttributeError("hides")

    def method(self):
        return self.x

    def secret(self):
        return getattr(self, "_A__secret"), hasattr(self, "__secret")


class Dir:
    __slots__ = ()

    def __dir__(self):
        return ["b", "a"]


class BadDir:
    def __dir__(self):
        return 5


class Str(str):
    pass


def get(o, name):
    return getattr(o, name)


def default(o, name):
    return getattr(o, name, "default"), hasattr(o, name)


def store(o, name, value):
    setattr(o, name, value)
    found = getattr(o, name)
    delattr(o, name)
    return found, hasattr(o, name)


def constants(o):
    return getattr(o, "x"), getattr(o, "y", None), hasattr(o, "x"), hasattr(o, "y")


def fields(o, names):
    return [getattr(o, n, n) for n in names], {n: hasattr(o, n) for n in names}


def dynamic(n):
    a = A()
    for i in range(n):
        setattr(a, f"f{i % 5}", i)
    return sorted(vars(a).items()), sum(getattr(a, f"f{i}", 0) for i in range(7))


def looked(o):
    return dir(o)[:3], sorted(vars(o))[:3] if hasattr(o, "__dict__") else "none"


def variables(o):
    return vars(o)


def unpacked(o):
    call = getattr(o, "method")
    return call(), getattr(o, "method")(), getattr(type(o), "method")(o), o.secret()


names = ("x", "cls", "missing", "fails", "hides", "method", "__class__", "", "not a name", Str("x"), 5, None, "".join(["c", "ls"]), "\ud800")
each(lambda o, n: (lambda r: r if isinstance(r, (int, str)) else type(r).__name__)(get(o, n)), *[(A(), n) for n in names], (A, "x"), (A, "cls"), (5, "real"), ([], "append"), (None, "x"), times=32)
each(lambda o, n: (lambda r: r if isinstance(r[0], (int, str)) else type(r[0]).__name__)(default(o, n)), *[(A(), n) for n in names], (A, "x"), (5, "real"), (None, "x"), times=32)
each(lambda n, v: store(A(), n, v), ("y", 1), ("x", 2), ("cls", "i"), ("with space", 3), (5, 1), ("fails", 1), (Str("s"), 2), times=32)
each(lambda o: store(o, "new", 1), (5,), ([],), (Dir(),), (A,), (lambda: 1,), times=32)
each(constants, (A(),), (A,), (5,))
hot(fields, A(), ["x", "cls", "zz", "x"])
hot(dynamic, 12)
each(looked, (Dir(),), (BadDir(),), (A(),))
each(lambda o: sorted(variables(o))[:2], (A(),), (A,), (5,), (Dir(),))
hot(unpacked, A())
