"""Calls: positional, keyword, defaults, keyword-only, star arguments, and every error of binding; defaults changed mid-loop."""


def plain(a, b, c):
    return a * 100 + b * 10 + c


def defaults(a, b=2, *, c=3, d):
    return a, b, c, d


def positional(a, /, b):
    return a - b


def star(*args, **kwargs):
    return args, sorted(kwargs.items())


def loop(f, n):
    s = 0
    for i in range(n):
        s += f(i, 1, 2)
        s += f(1, c=i, b=2)
    return s


def opt(x, step=1):
    return x + step


def steps(n):
    x = 0
    for i in range(n):
        x = opt(x)
        if i == 350:
            opt.__defaults__ = (0.5,)
        if i == 380:
            opt.__defaults__ = None
    return x


def kwonly(*, k=1):
    return k


def kwsteps(n):
    s = 0
    for i in range(n):
        s += kwonly()
        if i == 350:
            kwonly.__kwdefaults__ = {"k": 100}
    return s


def ignores(*args, key=None):
    return len(args) if key is None else key


def spread(n):
    s = 0
    args, more = (1, 2), {"key": 5}
    for i in range(n):
        s += ignores(*args) + ignores(*args, i, **more) + ignores(**more) + ignores(*[i] * (i % 3))
    return s


def mutable(x, seen=[]):
    seen.append(x)
    return len(seen)


print(loop(plain, 400), loop(lambda a, b, c: a - b - c, 350))
print(defaults(1, d=4), defaults(1, 9, d=4, c=5), positional(5, b=3), star(), star(1, *(2, 3), a=4, **{"b": 5}))
try:
    steps(400)
except TypeError as error:
    print(error)
print(kwsteps(400), spread(400), [mutable(i) for i in range(3)])
BAD = ["plain()", "plain(1)", "plain(1, 2, 3, 4)", "plain(1, 2, b=3)", "plain(1, 2, c=3, d=4)", "defaults(1)", "defaults(1, 2, 3, d=4)",
       "positional(a=1, b=2)", "positional(1)", "kwonly(1)", "star(a=1, **{'a': 2})", "plain(*5)", "star(**5)", "star(**{1: 2})", "5()",
       "None(1)", "'s'()", "len()", "len(1, 2)", "len(5)", "int('x')", "opt(1, stop=2)", "plain(*[1], **{'a': 1})"]
for text in BAD:
    try:
        eval(text)
    except (TypeError, ValueError) as error:
        print(text, "->", error)


def replaced(n):
    s = 0
    for i in range(n):
        s += target(i)
        if i == 350:
            target.__code__ = (lambda x: -x).__code__
    return s


def target(x):
    return x


print(replaced(400))


def late_error(n):
    s = 0
    for i in range(n):
        s += plain(i, 1, 2) if i < n - 1 else plain(i, 1)
    return s


try:
    late_error(400)
except TypeError as error:
    print(error, error.__traceback__.tb_next.tb_lineno, error.__traceback__.tb_next.tb_next)
print(sorted([3, 1, 2], key=lambda x: -x), list(map(plain, [1], [2], [3])), max([1, 2], key=positional.__get__(5).__call__ if False else None))
