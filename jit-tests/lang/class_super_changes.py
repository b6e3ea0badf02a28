"""super() while classes change: methods replaced, bases assigned, __class__ of objects assigned, classes made by factories."""

from support import hot


class Base1:
    def f(self):
        return "one"


class Base2:
    def f(self):
        return "two"


class Sub(Base1):
    def f(self):
        return "sub " + super().f()


class Other(Sub):
    def f(self):
        return "other " + super().f()


def call(o):
    return o.f()


def bases(n):
    out = []
    o = Sub()
    for i in range(n):
        if i == n // 2:
            Sub.__bases__ = (Base2,)
        if i == n - 3:
            Sub.__bases__ = (Base2, Base1)
        if i == n - 2:
            del Base2.f
        if i == n - 1:
            Base2.f = lambda self: "new two"
        out.append(call(o))
    Base2.f = lambda self: "two"
    Sub.__bases__ = (Base1,)
    return [out[k] for k in (0, n // 2 - 1, n // 2, n - 3, n - 2, n - 1)]


def replaced(n):
    out = []
    o = Other()
    saved = Base1.f
    for i in range(n):
        if i == n - 4:
            Base1.f = lambda self: "replaced"
        if i == n - 3:
            Base1.f = staticmethod(lambda: "static")
        if i == n - 2:
            Base1.f = property(lambda self: lambda: "property")
        if i == n - 1:
            del Base1.f
        try:
            out.append(call(o))
        except AttributeError as error:
            out.append(str(error))
    Base1.f = saved
    return out[-6:]


def reclassed(n):
    o = Sub()
    out = []
    for i in range(n):
        o.__class__ = (Sub, Other)[i % 2]
        out.append(call(o))
    return out[-2:]


def factory(label, base):
    class Made(base):
        def f(self):
            return f"{label} {super().f()}"
    return Made


def factories(n):
    kinds = [factory(i, Sub if i % 2 else Base2) for i in range(4)]
    return {call(kinds[i % 4]()) for i in range(n)}.__len__(), call(factory("x", kinds[1])())


for function in (bases, replaced, reclassed, factories):
    hot(function, 80, times=4)
