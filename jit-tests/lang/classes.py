"""Classes in hot code: making instances, __init__ errors, inheritance, metaclasses, __new__, isinstance, class attributes."""


class A:
    count = 0

    def __init__(self, x=1):
        self.x = x
        A.count += 1

    def value(self):
        return self.x


class B(A):
    def __init__(self, x, y):
        super().__init__(x)
        self.y = y

    def value(self):
        return super().value() + self.y


class Mixin:
    def value(self):
        return 1000 + super().value()


class C(Mixin, B):
    pass


class Meta(type):
    def __call__(cls, *args):
        made.append(cls.__name__)
        return super().__call__(*args)


class D(metaclass=Meta):
    def __init__(self, k):
        self.k = k


class Single:
    only = None

    def __new__(cls, *args):
        if cls.only is None:
            cls.only = object.__new__(cls)
        return cls.only


class Other:
    def __new__(cls):
        return 7


class BadInit:
    def __init__(self, n):
        if n > 390:
            return 5
        self.n = n


class Raises:
    def __init__(self, n):
        self.n = 10 // (n - 395)


made = []


def makes(n):
    s = 0
    for i in range(n):
        s += A(i).value() + B(i, 2).value() + C(i, 0.5).value() + A().value()
    return s, A.count


def kinds(objects):
    counts = {}
    for o in objects:
        name = "A" if isinstance(o, (A, int)) else "D" if type(o) is D else "?"
        counts[name] = counts.get(name, 0) + 1
    return counts


def swaps_class(n):
    o = A(1)
    s = 0
    for i in range(n):
        s += o.value()
        if i == 350:
            o.__class__ = C
            o.y = 1
        if i == 370:
            o.__class__ = A
    return s


def changes_base(n):
    o = C(1, 1)
    s = 0
    for i in range(n):
        s += o.value()
        if i == 350:
            Mixin.value = lambda self: 0
        if i == 370:
            C.__bases__ = (B,)
    return s


def local_classes(n):
    s = 0
    for i in range(n):
        class Local:
            k = i

            def get(self):
                return self.k * 2
        s += Local().get()
    return s


def until_error(cls, n):
    for i in range(n):
        o = cls(i)
    return o


print(makes(300), kinds([A(), D(1), B(1, 2), 5, "x"] * 80), len(made), swaps_class(400), local_classes(300), changes_base(400))
print(all(Single(i) is Single() for i in range(300)), sum(Other() for _ in range(300)))
for cls in (BadInit, Raises):
    try:
        until_error(cls, 400)
    except (TypeError, ZeroDivisionError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
for f in (lambda: A(1, 2), lambda: B(1), lambda: A.value(), lambda: isinstance(1, 5), lambda: object(1), lambda: A.nothing, lambda: super().x):
    try:
        f()
    except (TypeError, AttributeError, RuntimeError) as error:
        print(type(error).__name__, error)


class Descriptor:
    def __init__(self):
        self.sets = 0

    def __get__(self, o, cls):
        return self if o is None else o.__dict__.get("_v", 0)

    def __set__(self, o, v):
        self.sets += 1
        if v > 390:
            raise ValueError(f"too big: {v}")
        o.__dict__["_v"] = v


class Holder:
    v = Descriptor()


def stores(n):
    h = Holder()
    for i in range(n):
        h.v = i
        h.v += 0
    return h.v


print(stores(300), Holder.v.sets)
try:
    stores(400)
except ValueError as error:
    print(error, Holder.v.sets)
