"""Method calls: bound, inherited, overridden mid-loop, on the instance, super, class and static methods, of builtins; errors."""


class Base:
    def __init__(self, n):
        self.n = n

    def add(self, k):
        self.n += k
        return self.n

    def twice(self, k, times=2):
        for _ in range(times):
            self.add(k)
        return self

    @classmethod
    def make(cls, n):
        return cls(n)

    @staticmethod
    def plain(x, y):
        return x - y


class Derived(Base):
    def add(self, k):
        return super().add(k * 2)


class Callable:
    def __init__(self):
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return len(args) + len(kwargs)


def run(o, n):
    s = 0
    for i in range(n):
        s += o.add(i)
    return s


def chain(o, n):
    for i in range(n):
        o = o.twice(1).twice(i, times=1)
    return o.n


def overridden(o, n):
    s = 0
    for i in range(n):
        s += o.add(1)
        if i == 350:
            Base.add = lambda self, k: -1000
        if i == 360:
            o.add = lambda k: 5
        if i == 370:
            del o.add
        if i == 380:
            Base.add = original
    return s


def bound(n):
    add = Base(0).add
    append = (items := []).append
    for i in range(n):
        append(add(i))
    return items[-1], len(items)


def strings(n):
    out = []
    for i in range(n):
        out.append(str(i).zfill(4).replace("0", "o").upper())
    return "".join(out)[-20:]


def mixed(objects):
    s = 0
    for o in objects:
        s += o.add(1)
    return s


original = Base.add
print(run(Base(0), 400), run(Derived(0), 400), run(Base(0.5), 300), chain(Base(1), 400), chain(Derived(1), 300))
print(overridden(Base(0), 400), bound(400), strings(400))
print(mixed([Base(i) for i in range(200)] + [Derived(i) for i in range(200)]))
c = Callable()
print(sum(c(i, k=i) for i in range(300)), c.calls, Base.make(4).n, Derived.make(4).add(1), Base.plain(5, 3), Base(0).plain(1, 2))
for f in (lambda: Base(0).add(), lambda: Base(0).add(1, 2), lambda: Base.add(1), lambda: Base(0).missing(), lambda: Base(0).n(),
          lambda: Base(), lambda: Base(0).twice(1, times="x"), lambda: "a".join([1]), lambda: [].append(), lambda: run(Base("s"), 2),
          lambda: Base(0).twice(k=1, n=2), lambda: Base.plain(1)):
    try:
        f()
    except (TypeError, AttributeError) as error:
        print(type(error).__name__, error)


class Descriptor:
    def __get__(self, obj, cls):
        return lambda x: (x, obj is None, cls.__name__)


class Holder:
    m = Descriptor()


print([Holder().m(i) for i in (1, 2)], Holder.m(3))
Base.__init__ = lambda self, n: setattr(self, "n", n + 1000)
print(Base(1).n)
