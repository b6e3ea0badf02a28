"""Functions that change under the loop that calls them: __code__, __defaults__, __kwdefaults__, __dict__, and themselves."""


def double(x):
    return x * 2


def negate(x):
    return -x


def calls(n, change_at, change):
    s = 0
    for i in range(n):
        s += double(i)
        if i == change_at:
            change()
    return s


original = double.__code__


def to_negate():
    double.__code__ = negate.__code__


def back():
    double.__code__ = original


print(calls(400, 350, to_negate), double(5))
print(calls(400, 350, back), double(5))


def self_changing(n):
    """Its own code changes while it runs: the running frame keeps the old one."""
    s = 0
    for i in range(n):
        s += i
        if i == n - 10:
            self_changing.__code__ = other.__code__
    return s


def other(n):
    return "other", n


print(self_changing(400), self_changing(400))


def pad(x, width=3, *, fill="-"):
    return f"{x:{fill}>{width}}"


def pads(n):
    out = ""
    for i in range(n):
        out = pad(i) + out[:8]
        if i == 350:
            pad.__defaults__ = (6,)
        if i == 370:
            pad.__kwdefaults__ = {"fill": "*"}
        if i == 398:
            pad.__kwdefaults__["fill"] = "#"
    return out


print(pads(400))
pad.__kwdefaults__ = None
try:
    pads(400)
except TypeError as error:
    print(error)


def outer(k):
    def inner(x):
        return x + k
    return inner


a, b = outer(1), outer(100)


def swap_closures(n):
    s = 0
    for i in range(n):
        s += a(i)
        if i == 350:
            a.__code__ = (lambda k: (lambda x: x - k))(0).__code__
    return s


print(swap_closures(400), b(1))
try:
    a.__code__ = negate.__code__
except ValueError as error:
    print(error)
try:
    double.__code__ = 5
except TypeError as error:
    print(error)
try:
    double.__defaults__ = 5
except TypeError as error:
    print(error)


class C:
    def m(self, x):
        return x + 1


def method_calls(o, n):
    s = 0
    for i in range(n):
        s += o.m(i)
        if i == 350:
            C.m.__code__ = (lambda self, x: x + 1000).__code__
        if i == 370:
            C.m.__defaults__ = (7,)
            s += o.m()
    return s


print(method_calls(C(), 400))
exec("def double(x): return 'new function'", globals())
print(double(1))
