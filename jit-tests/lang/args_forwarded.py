"""Functions that pass their arguments on, by position and by name: plainly, changed, through several functions, to functions that do
not take them; exits and exceptions in the called function, whose caller still has its tuple and dict; objects that die on the way."""

import functools
import sys
import traceback


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def add(a, b=10, *, c=100):
    return a + b + c


def passes(*a, **k):
    return add(*a, **k)


def only_names(**k):
    return add(**k)


def plainly(n):
    total = 0
    for i in range(n):
        total += passes(i) + passes(i, 2) + passes(i, b=3) + passes(i, c=1, b=i) + passes(a=i, c=i) + passes(i, 2, c=3)
        total += only_names(a=i) + only_names(c=2, a=i)
    return total


def twice(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) + fn(*args, **kwargs)

    return wrapper


def same(fn):
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@same
@twice
@same
def wrapped(x, y=1, *, z=2):
    return x * y + z


def through_several(n):
    total = 0
    for i in range(n):
        total += wrapped(i) + wrapped(i, 3) + wrapped(i, y=4) + wrapped(x=i, z=5) + wrapped(i, 2, z=i)
    return total


def local_ones(n):
    def deco(fn):
        def inner(*a, **k):
            return fn(*a, **k)

        return inner

    @deco
    def f(x, y=0, **more):
        return x + y + len(more)

    @deco
    @deco
    def g(*a, z=1):
        return len(a) + z

    total = 0
    for i in range(n):
        total += f(i) + f(i, 1) + f(i, y=2) + f(i, w=3) + f(y=i, x=1, v=2, w=4) + g(i) + g(z=i) + g(1, 2, z=3)
    return total


def adds_one(*a, **k):
    k["c"] = 1000
    return add(*a, **k)


def takes_away(*a, **k):
    k.pop("b", None)
    return add(*a, **k)


def reads(*a, **k):
    return add(*a, **k) + len(k) + len(a) + k.get("b", 7)


def replaces(*a, **k):
    k = {"b": 5}
    return add(*a, **k)


def keeps(*a, **k):
    KEPT[:] = [a, k]
    return add(*a, **k)


KEPT = []


def changed(n):
    total = 0
    for i in range(n):
        for f in (adds_one, takes_away, reads, replaces, keeps):
            total += f(i) + f(i, b=2)
            if f is not replaces:
                total += f(a=i, b=3)
    return total, KEPT


def wrong(n):
    out = []

    def f(*a, **k):
        return add(*a, **k)

    calls = [lambda i: f(), lambda i: f(i, a=2), lambda i: f(i, d=3), lambda i: f(i, 2, 3), lambda i: f(b=1), lambda i: f(i)]
    for i in range(n):
        for call in calls:
            try:
                out.append(call(i))
            except TypeError as e:
                out.append(str(e))
    return out[-6:]


def caller(depth):
    frame = sys._getframe(depth)
    return frame.f_code.co_name, sorted(frame.f_locals.items())


def scaled(x, by=1, *, more=0):
    y = x * by + more
    if y > 2**62:
        return caller(2)
    return y


def scales(*args, **kwargs):
    return scaled(*args, **kwargs)


def exits(n):
    """The multiplication leaves compiled code; then the function looks at its caller's frame."""
    out = []
    for i in range(n):
        big = i > n - 3
        out.append(scales(2**61 if big else i, by=4 if big else 2, more=i))
        out.append(scales(2**60 if big else i, 8))
    return out[-8:]


def divides(a, b):
    return a // b


def divides_for(*a, **k):
    return divides(*a, **k)


def raises(n):
    out = []
    for i in range(n):
        try:
            out.append(divides_for(i, b=0 if i % 9 == 8 else 3))
        except ZeroDivisionError as e:
            names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(e.__traceback__)]
            frame = e.__traceback__.tb_next.tb_frame
            out.append((names, frame.f_locals["a"], frame.f_locals["k"]))
    return out[-10:]


def second(a, b):
    return b


def second_of(*a, **k):
    return second(*a, **k)


def dies(n):
    for i in range(n):
        if i > n - 3:
            second_of(Loud(f"first {i}"), b=Loud(f"named {i}"))
            second_of(b=Loud(f"b {i}"), a=Loud(f"a {i}"))
        else:
            second_of(i, b=i)
            second_of(b=i, a=i)
    print("over")


def counts(a, b):
    return sys.getrefcount(a), sys.getrefcount(b)


def counts_for(*a, **k):
    return counts(*a, **k)


def counted(n):
    one, two = object(), object()
    for i in range(n):
        found = counts_for(one, two), counts_for(one, b=two), counts_for(b=one, a=two)
    return found, sys.getrefcount(one), sys.getrefcount(two)


def items(a, b=5, *, step=1):
    for i in range(a, b, step):
        yield i


def items_of(*a, **k):
    return items(*a, **k)


def generators(n):
    total = 0
    for i in range(n):
        for x in items_of(0, step=2):
            total += x
        for x in items_of(1, b=7):
            total += x
    return total


class Thing:
    def __init__(self, *args, **kwargs):
        self.set(*args, **kwargs)

    def set(self, x, y=1, *, z=2):
        self.all = x, y, z

    def call(self, *args, **kwargs):
        return self.result(*args, **kwargs)

    def result(self, a, *, b=3):
        return self.all[0] * a + b


def methods(n):
    total = 0
    for i in range(n):
        thing = Thing(i, z=3)
        total += thing.call(2) + thing.call(3, b=i) + Thing(x=i).call(a=1) + thing.all[2]
    return total


def positional_only(a, /, **rest):
    return a, rest


def collects(*a, **k):
    return positional_only(*a, **k)


def collected(n):
    for i in range(n):
        found = collects(i, a=2, b=3), collects(i)
    return found


def replaced(n):
    global add
    old, out = add, []
    for i in range(n):
        if i == n - 4:
            add = lambda a, b=1, *, c=5: (a, b, c)
        out.append(passes(i, c=i))
    add = old
    return out[-6:]


def logged(fn):
    @functools.wraps(fn)
    def wrapper(self, *args, **kwargs):
        self.calls += 1
        return fn(self, *args, **kwargs)

    return wrapper


def doubled(fn):
    def wrapper(self, first, *args):
        return fn(self, first * 2, *args)

    return wrapper


class Account:
    def __init__(self, total):
        self.total, self.calls = total, 0

    @logged
    def put(self, amount, factor=1, *, extra=0):
        self.total += amount * factor + extra
        return self.total

    @doubled
    def rest(self, a, b=3, *c):
        return self.total % 7 + a + b + len(c)

    @logged
    @doubled
    def both(self, a, b=1):
        return a * b


def decorated_methods(n):
    account, found = Account(5), 0
    for i in range(n):
        found += account.put(i) + account.put(i, 2) + account.put(i, extra=3) + account.put(amount=i, factor=2)
        found += account.rest(i) + account.rest(i, 4) + account.rest(i, 4, 5, 6) + account.both(i) + account.both(i, 3)
    return found, account.calls


def after_one(x, *rest):
    return add(x, *rest)


def after_two(x, y, *rest, **k):
    return add(x, *rest, **k) + y


def mixed_order(n):
    out = []
    for i in range(n):
        for rest in ((), (1,), (1, 2)):
            try:
                out.append(after_one(i, *rest))
            except TypeError as e:
                out.append(str(e))
        out.append(after_two(i, 1, 2, c=3))
        out.append(after_two(i, 1, c=3))
    return out[-5:]


class Keeper:
    def __init__(self, **kept):
        self.kept = kept

    def counts(self, a, b=None):
        return sys.getrefcount(a), sys.getrefcount(b)

    def __call__(self, *a, **k):
        k["more"] = 1
        return a, k


def others(n):
    """What is called is no Python function: each gets a dict of its own."""
    keeper, value = Keeper(x=1), object()

    def call(f, *a, **k):
        found = f(*a, **k)
        return found, k

    out = []
    for i in range(n):
        out = [call(dict, a=i), call(keeper, 1, z=i), call(Keeper, y=i)[0].kept, call(keeper.counts, value, b=value)[0]]
        bound = call(functools.partial, add, b=i)[0]
        out.append((bound.keywords, bound(1)))
        out.append(call("{a}{b}".format, a=1, b=i)[0])
        out.append(call(max, [i, 3], key=lambda x: -x)[0])
    out[1][0][1]["later"] = out[1][1]
    return out


def odd_keys(n):
    def f(*a, **k):
        if n in k or not a:
            k[5] = 6
        return add(*a, **k)

    out = []
    for i in range(n):
        for call in (lambda: f(i, b=1), lambda: f(c=3)):
            try:
                out.append(call())
            except TypeError as e:
                out.append(str(e))
    return out[-2:]


def from_a_cell(n):
    """The name of an enclosing function gets another value."""

    def g(x, y=1):
        return x + y

    def f(*a):
        return g(*a) + g(1, 2)

    out = []
    for i in range(n):
        if i == n - 5:
            g = lambda x, y=7: x * y
        if i == n - 2:
            g = max
        out.append(f(i, 3))
    return out[-8:]


for _ in range(3):
    print(decorated_methods(150), mixed_order(80))
    print(plainly(200), through_several(200), local_ones(200), generators(100), methods(150))
    print(changed(60))
print(wrong(80))
print(exits(80))
print(raises(80))
dies(80)
print(counted(80))
print(collected(80))
print(replaced(80))
print(others(80))
print(odd_keys(80))
print(from_a_cell(80))
