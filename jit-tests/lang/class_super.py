"""super(): with and without arguments, in class and static methods, nested functions and comprehensions, deleted and wrong first arguments."""

from support import each, hot


class A:
    value = "A"

    def f(self, x=0):
        return ["A.f", x]

    @classmethod
    def c(cls, x):
        return ["A.c", cls.__name__, x]

    @staticmethod
    def s(x):
        return ["A.s", x]

    @property
    def p(self):
        return "A.p"


class B(A):
    def f(self, x=0):
        return super().f(x) + ["B.f"]

    @classmethod
    def c(cls, x):
        return super().c(x) + ["B.c"]

    @staticmethod
    def s(x):
        return super(B, B).s(x) + ["B.s"]

    @property
    def p(self):
        return super().p + "B.p"

    def nested(self, x):
        def inner():
            return super(B, self).f(x)
        def wrong():
            return super().f(x)
        try:
            bad = wrong()
        except (RuntimeError, TypeError) as error:
            bad = str(error)
        return inner(), bad, [super(B, self).value for _ in "a"], (lambda me: super(B, me).f(1))(self)

    def explicit(self, kind, obj):
        return super(kind, obj).f(9)

    def rebound(self):
        self = C()
        return super().f(2)

    def deleted(self):
        del self
        return super().f()

    def missing(self):
        return super().nothing

    def star(*args):
        return super().f(len(args))

    def assigned(self):
        super().value = 1

    def __getattr__(self, name):
        return f"hook {name}"

    def class_cell(self):
        return __class__.__name__, super().__thisclass__.__name__, super().__self__ is self


class C(B):
    value = "C"

    def f(self, x=0):
        up = super()
        return up.f(x) + [up.value, "C.f"]


class M(C, A):
    pass


def call(o, how, *args):
    return getattr(o, how)(*args)


objects = (B(), C(), M())
for o in objects:
    each(lambda how, *args: call(o, how, *args), ("f", 1), ("c", 2), ("s", 3), ("nested", 4), ("class_cell",), ("star", 1, 2), times=40)
    hot(lambda: o.p, times=40)
for how in ("rebound", "deleted", "missing", "assigned", "star"):
    hot(call, objects[1], how)
each(objects[0].explicit, (B, objects[0]), (A, objects[0]), (C, objects[0]), (B, 5), (5, objects[0]), (B, M()))
hot(B.f, 5)
hot(B.star)
hot(lambda: super().f())
