"""Call sites that meet many callees: functions of other shapes, classes, bound methods, builtins and errors, one after the other in one loop."""

from support import each, hot


def one(x):
    return x + 1


def defaulted(x, y=10):
    return x * y


def variadic(*xs):
    return len(xs)


def keyword(x, *, k=3):
    return x, k


def raising(x):
    raise LookupError(x)


def yielding(x):
    yield x


class Made:
    def __init__(self, x):
        self.x = x

    def method(self, x):
        return self.x, x

    def __call__(self, x):
        return "called", x


class Other(Made):
    def method(self, x):
        return "other", x


def through(callees, x):
    out = []
    for f in callees:
        try:
            r = f(x)
            out.append(r if isinstance(r, (int, tuple, str, float)) else type(r).__name__)
        except (LookupError, TypeError) as error:
            out.append(str(error))
    return out


def methods(objects, x):
    return [o.method(x) for o in objects]


def arities(f, args):
    n = len(args)
    if n == 0:
        return f()
    if n == 1:
        return f(args[0])
    if n == 2:
        return f(args[0], args[1])
    return f(*args)


def swapped(n):
    global one
    saved, out = one, []
    for i in range(n):
        if i == n - 3:
            one.__code__ = (lambda x: x * 100).__code__
        if i == n - 2:
            one.__defaults__ = (7,)
        if i == n - 1:
            one = defaulted
        out.append(one(i) if i != n - 2 else one())
    one = saved
    one.__defaults__ = None
    one.__code__ = original
    return out[-5:]


original = one.__code__
everything = [one, defaulted, variadic, keyword, raising, yielding, Made, Made(1), Made(2).method, str, len, abs, (1).__add__, lambda x: -x, int, None, "abc".index, [].append, Other(3).method, print and repr]
each(through, (everything, 5), (everything[::-1], 2.5), ([one] * 60 + [defaulted], 1), ([Made(1)] * 40 + [raising], 3), (everything, "a"))
each(methods, ([Made(1)] * 30 + [Other(2)], 5), ([Other(1), Made(2)] * 10, 6), ([Made(1), 5], 7))
each(arities, *[(f, a) for f in (one, defaulted, variadic, keyword) for a in ((), (1,), (1, 2), (1, 2, 3))])
print(swapped(60), swapped(60), one(1))
