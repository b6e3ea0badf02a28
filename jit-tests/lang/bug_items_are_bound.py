"""What is in a tuple is an object, also where the local that had it may have been unbound and is a raw number."""


class Value:
    def __add__(self, other):
        pass

    def __gt__(self, other):
        pass


class Base:
    __slots__ = ("x", "k")

    def __init__(self, x):
        self.x = x
        self.k = 1


class Derived(Base):
    __slots__ = ()

    def odd(self, a):
        return self.k


def items(p, q, text, o):
    n = 100
    m = n + n
    one = 1 % (1 or 1)
    t = (p, p)
    t = (t[1], max(q, p))
    q = 1e300 if 5 < len(text) <= 9.5 else m >> 1
    if o.odd(one) % 1 == 1:
        del q
    try:
        v = q
    except NameError as e:
        pass
    for i in (o, o, o, o):
        for j in (q, q, q):
            t = (1.0 if 2**63 >= j else 1, {}.get(max(n, 1) & 1, v))
        t = (t[1], v)
        t = (sum([p for c in t if v is None]), i.x)

    def inner(a):
        x, y = (m, v)
        z = one

    p += inner(t[1])
    return t


for turns in (9, 9, 14, 20):
    print([items(Value(), k, "ab", Derived(k)) for k in range(turns)])
