"""__new__, __init__, __init_subclass__, metaclass calls: objects of other classes, wrong returns, arguments checked, singletons, changed while hot."""

from support import each, hot


class Other:
    def __init__(self, *args):
        raise RuntimeError("never")


class Gives:
    def __new__(cls, kind, *args):
        if kind == "other":
            return 5
        if kind == "sub":
            return object.__new__(Sub)
        if kind == "none":
            return None
        return super().__new__(cls)

    def __init__(self, kind, *args):
        self.seen = kind, args


class Sub(Gives):
    def __init__(self, *args):
        self.seen = "Sub.__init__", args


class Returns:
    def __init__(self, what):
        return what


class NoArgs:
    pass


class OnlyNew:
    def __new__(cls, x):
        self = super().__new__(cls)
        self.x = x
        return self


class Singleton:
    instance = None
    made = 0

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
        return cls.instance

    def __init__(self):
        Singleton.made += 1


class Int(int):
    def __new__(cls, x, scale=1):
        return super().__new__(cls, x * scale)

    def __init__(self, x, scale=1):
        self.scale = scale


class Registered:
    known = []

    def __init_subclass__(cls, label="none", **kw):
        super().__init_subclass__(**kw)
        Registered.known.append((cls.__name__, label))


def make(kind, *args):
    o = kind(*args)
    return type(o).__name__, getattr(o, "seen", getattr(o, "x", None))


def singles(n):
    Singleton.instance, Singleton.made = None, 0
    return len({id(Singleton()) for _ in range(n)}), Singleton.made


def ints(n):
    return sum(Int(i, 2) for i in range(n)), Int(3).scale, Int(2) + Int(3, scale=5), type(Int(1) + 1).__name__


def subclasses(n):
    Registered.known.clear()
    for i in range(n):
        class A(Registered, label=i):
            pass
        type("B", (A,), {})
    return Registered.known


def unknown_keyword():
    class A(Registered, other=1):
        pass


def changed(n):
    class L:
        def __init__(self, x):
            self.x = x
    out = []
    for i in range(n):
        if i == n - 4:
            L.__init__ = lambda self, x: setattr(self, "x", -x)
        if i == n - 2:
            L.__new__ = lambda cls, x: "not an L"
        out.append(getattr(L(i), "x", "str"))
    return out[-6:]


each(make, (Gives, "plain"), (Gives, "other"), (Gives, "sub", 1), (Gives, "none"), (Sub, "other"), (Sub, "plain", 2), (Returns, None), (Returns, 5), (NoArgs,), (NoArgs, 1), (OnlyNew, 3), (OnlyNew,),
     (Gives,), (object, 1), (Int, 3, 4), (Int, "x"), (type, 5), (Other,), (super,), (bool, 1), (type, "T", (), {"seen": 3}), times=40)
hot(singles, 5)
hot(ints, 4)
hot(subclasses, 2)
hot(unknown_keyword)
hot(changed, 60, times=3)
