"""Comprehensions: lists, sets, dicts, nested, conditions, walrus, closures, name leaks, errors, in hot functions."""


def squares(n):
    return [i * i for i in range(n)]


def nested(n):
    return [[i * j for j in range(i)] for i in range(n)]


def flat(rows):
    return [x for row in rows for x in row if x % 2]


def index(words):
    return {w: i for i, w in enumerate(words)}


def letters(words):
    return sorted({c for w in words for c in w})


def outer_name(n):
    i = "kept"
    total = sum([i for i in range(n)])
    return i, total


def captures(n):
    k = 3
    fs = [lambda x: x + i + k for i in range(n)]
    k = 5
    return [f(1) for f in fs][:3]


def walrus(values):
    hits = [y for x in values if (y := x * 2) > 10]
    return hits[-1], y


def conditions(n):
    return [("fizz" if i % 3 == 0 else i) for i in range(n) if i % 2 if i > n - 10]


def repeats(n):
    s = 0
    for i in range(n):
        s += sum([x + i for x in (1, 2, 3)]) + len({x for x in "aab"}) + {k: i for k in "ab"}["a"]
    return s


def late(values):
    return [v + 1 for v in values]


class C:
    base = 3
    table = [i * 2 for i in range(base)]


print(sum(squares(400)), sum(map(sum, nested(40))), flat([[1, 2, 3], range(4, 8)]), index("abca"), letters(["hello", "world"]))
print(outer_name(400), captures(4), walrus(range(400)), conditions(400), repeats(400), C.table)
print(sum(late(range(400))), late([1] * 300 + [0.5])[-1])
for values in ([1] * 320 + ["x"], 5, [None]):
    try:
        late(values)
    except TypeError as error:
        print(error, error.__traceback__.tb_next.tb_lineno)


def unbound(n):
    return [later for i in range(n)]
    later = 1


def inner_error(n):
    out = [10 // (n - 1 - i) for i in range(n)]
    return out


for f in (unbound, inner_error):
    try:
        f(350)
    except (NameError, ZeroDivisionError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno, error.__traceback__.tb_next.tb_frame.f_code.co_name)


def restores(n):
    x = "before"
    try:
        [x for x in range(n) if 1 // (n - 5 - x)]
    except ZeroDivisionError:
        pass
    return x


print(restores(300), [*(x for x in range(3))], {**{k: v for k, v in [(1, 2)]}})
matrix = [[1, 2, 3], [4, 5, 6]]
print([[row[i] for row in matrix] for i in range(3)], [(a, b) for a in range(3) for b in range(a)])
