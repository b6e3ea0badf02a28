"""Subclasses of int, float, bool's kin, list, str and dict: exact-type shortcuts must not apply to them."""


class Loud(int):
    def __add__(self, other):
        return ("add", int(self), other)

    def __radd__(self, other):
        return ("radd", other, int(self))

    def __lt__(self, other):
        return True

    def __bool__(self):
        return False

    def __index__(self):
        return 1


class Quiet(int):
    pass


class F(float):
    def __mul__(self, other):
        return "F*"


class L(list):
    def __len__(self):
        return 99

    def __iter__(self):
        return iter("iterated")


class D(dict):
    def __getitem__(self, k):
        return ("D", k)

    def __contains__(self, k):
        return True


class S(str):
    def __eq__(self, other):
        return "eq"

    __hash__ = str.__hash__


def add(a, b):
    return a + b


def sums(values):
    s = 0
    for v in values:
        s = s + v
    return s


def less(values, than):
    n = 0
    for v in values:
        if v < than:
            n += 1
        if v:
            n += 100
    return n


def muls(values):
    out = 1.0
    for v in values:
        out = v * 2.0
    return out


def at(items, keys):
    return [items[k] for k in keys]


def ranges(n, step):
    return [i for i in range(0, n, step)]


print([add(i, i) for i in range(300)][-1], add(Loud(3), 4), add(4, Loud(3)), add(Quiet(3), 4), type(add(Quiet(3), 4)).__name__, add(True, Loud(2)))
print(sums(list(range(350)) + [Quiet(5)]), sums([1] * 300 + [Loud(7)]), sums([Quiet(2**62)] * 5 + [0.5]))
print(less([5] * 300 + [Loud(9)], 3), less([Quiet(0), Quiet(1)], 1))
print(muls([1.5] * 300), muls([1.5] * 300 + [F(2.0)]), F(2.0) + 1, type(F(2.0) + 1).__name__)
print(at([10, 20, 30], [Loud(0), Quiet(2), True]), at(D(a=1), ["a", "zz"]), at(L([1, 2, 3]), [0, -1]), ranges(Quiet(5), Quiet(2)))
l = L([1, 2, 3])
print(len(l), [x for x in l], list(l), l[0], "q" in D(), S("a") == "b", {S("a"): 1}["a"])
print(-Quiet(5), type(-Quiet(5)).__name__, Quiet(5) == 5, hash(Quiet(5)) == hash(5), Quiet(7) // 2, Quiet(1) << 70, ~Quiet(1), abs(Loud(-4)))


def loop(o, n):
    i = o
    while i < n:
        i = i + 1
    return i, type(i).__name__


print(loop(Quiet(0), 300), loop(0, 300), loop(0.5, 300), loop(True, 5))


class Counter(int):
    made = 0

    def __new__(cls, v):
        cls.made += 1
        return int.__new__(cls, v)

    def __sub__(self, other):
        return Counter(int(self) - int(other))


def down(n):
    c = Counter(n)
    while c > 0:
        c = c - 1
    return c, Counter.made


print(down(300))
