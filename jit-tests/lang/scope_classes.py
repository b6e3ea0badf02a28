"""Class bodies run in hot functions: names, closures, decorators, __prepare__, metaclasses, annotations, __set_name__, raising midway."""

from support import each, hot

log = []


class Namespace(dict):
    def __setitem__(self, key, value):
        if not key.startswith("__"):
            log.append(key)
        super().__setitem__(key, value)

    def __missing__(self, key):
        if key == "magic":
            return "conjured"
        raise KeyError(key)


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **kw):
        return Namespace(kw)

    def __new__(mcs, name, bases, space, **kw):
        return super().__new__(mcs, name, bases, dict(space))

    def __init__(cls, name, bases, space, **kw):
        super().__init__(name, bases, space)
        cls.order = list(log)


class Named:
    def __set_name__(self, owner, name):
        log.append((owner.__name__, name))
        if name == "refused":
            raise LookupError(name)


def plain(n):
    class C:
        """Doc."""
        a = n
        b = a + 1
        for i in range(n):
            a += i
        def method(self):
            return self.a + n
        c = lambda self: self.b
        del i
    return C().method(), C().c(), C.__doc__, sorted(k for k in vars(C) if not k.startswith("_")), C.__qualname__


def with_meta(x):
    log.clear()
    class C(metaclass=Meta, extra=x):
        first = extra
        second = magic
        third = len([first])
    return C.order, C.first, C.second, C.third


def decorated(n):
    def outer(f):
        log.append("applied")
        return f
    log.clear()
    @outer
    @(lambda c: (log.append(c.__name__), c)[1])
    class C:
        @outer
        def f(self):
            return n
        @staticmethod
        def g(x=n):
            return x
    return C().f(), C.g(), list(log)


def names(how):
    log.clear()
    if how:
        class C:
            refused = Named()
    else:
        class C:
            a = Named()
            b = c = Named()
    return list(log)


def stopped(x):
    class C:
        a = 1
        b = a / x
    return C.b


def scoping(x):
    y = "function"
    class C:
        y = y if False else "class"
        z = x
        x = "class x"
        def f(self):
            return x, y
        w = [x for _ in (1,)]
    return C.y, C.z, C.x, C().f(), C.w


def annotated():
    class C:
        a: int = 1
        b: "later"
        c: list[int]
        (d): int = 4
    return C.__annotations__, C.d


def inherited(base, **kw):
    class D(base, **kw):
        pass
    return D.__mro__[1].__name__, D.__bases__ == (base,)


each(plain, (0,), (3,))
each(with_meta, (1,), ("x",))
hot(decorated, 2)
each(names, (0,), (1,))
each(stopped, (2,), (0,))
hot(scoping, 1)
hot(annotated)
each(inherited, (int,), (dict,), (bool,), (5,), (type,))
hot(inherited, object, unknown=1)
