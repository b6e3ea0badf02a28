"""Descriptors: data and not, on instances, classes and metaclasses, __set_name__, __delete__, raising, changed kind while in use."""

from support import each, hot


class NonData:
    def __init__(self, value):
        self.value = value

    def __get__(self, obj, owner=None):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value, obj is None, owner.__name__

    def __set_name__(self, owner, name):
        self.name = name


class Data(NonData):
    def __set__(self, obj, value):
        if value == "refused":
            raise ValueError(self.name)
        obj.__dict__[self.name] = ("set", value)

    def __delete__(self, obj):
        del obj.__dict__[self.name]


class OnlySet:
    def __set__(self, obj, value):
        obj.__dict__["only"] = value * 2


class Meta(type):
    on_meta = NonData("meta")
    both = Data("meta both")


class C(metaclass=Meta):
    non = NonData("non")
    data = Data("data")
    only = OnlySet()
    fails = NonData(LookupError("in get"))
    hidden = NonData(AttributeError("hidden"))
    both = NonData("class both")

    def method(self):
        return "method"


class Hook(C):
    def __getattr__(self, name):
        return f"hook {name}"


def read(o, name):
    if name == "non":
        return o.non
    if name == "data":
        return o.data
    if name == "only":
        return o.only
    if name == "fails":
        return o.fails
    if name == "hidden":
        return o.hidden
    if name == "both":
        return o.both
    return o.on_meta


def write(kind, value):
    o = kind()
    o.non = value
    o.data = value
    o.only = value
    out = [o.non, o.data, sorted(o.__dict__.items())]
    del o.data, o.non
    out += [o.non, o.__dict__.get("data")]
    return out


def delete(name):
    o = C()
    delattr(o, name)


def becomes(n):
    """A non-data descriptor becomes a data descriptor, and goes, under a shadowing instance attribute."""
    class Late:
        def __get__(self, obj, owner):
            return "descriptor"
    class D:
        x = Late()
    o = D()
    o.__dict__["x"] = "instance"
    out = []
    for i in range(n):
        if i == n - 3:
            Late.__set__ = lambda self, obj, value: None
        if i == n - 2:
            del Late.__get__
        if i == n - 1:
            del D.x
        out.append(type(o.x).__name__ if not isinstance(o.x, str) else o.x)
    return out[-5:]


for name in ("non", "data", "only", "fails", "hidden", "both", "meta"):
    each(lambda o: (lambda r: "OnlySet" if isinstance(r, OnlySet) else r)(read(o, name)), (C(),), (C,), (Hook(),), times=40)
each(write, (C, 1), (Hook, "x"), (C, "refused"), (C, None))
each(delete, ("data",), ("only",), ("non",), ("method",), ("absent",))
hot(becomes, 60, times=3)
