"""Building lists, tuples, dicts, sets, slices and f-strings, with errors from hashing, formatting and unpacking."""


def lists(n):
    out = []
    for i in range(n):
        out = [i, out[0] if out else None, (i, i * 0.5)]
    return out


def dicts(n):
    d = {}
    for i in range(n):
        d = {"i": i, i: d.get("i"), **({"last": True} if i == n - 1 else {})}
    return d


def sets(n):
    s = set()
    for i in range(n):
        s |= {i % 5, -i % 3, i % 2 == 0}
    return sorted(s)


def merges(n):
    a = [1]
    t = ()
    for i in range(n):
        a = [*a[-3:], i, *range(i % 3)]
        t = (*t[-2:], *a, i)
    return a, t


def text(n):
    out = ""
    for i in range(n):
        out = f"{i}:{i * 0.5:.2f}|{i!r:>4}|{out[:5]!s}|{i:#x}{'yes' if i % 2 else ''}"
    return out


class Loud:
    def __format__(self, spec):
        if spec == "bad":
            raise ValueError("will not")
        return f"<{spec}>"

    def __repr__(self):
        return "Loud()"


def formats(values, spec):
    return [f"{v:{spec}}" for v in values]


def hashes(keys):
    n = 0
    for k in keys:
        n += len({k: 1, (k, k): 2})
    return n


print(lists(400), dicts(400), sets(400))
print(*merges(350))
print(text(400), f"{Loud()} {Loud():x} {Loud()!r:>8} {1 + 1=} {'nested ' + f'{3:{4}d}'}")
print(formats([1, 2.5, True, "s"], ">6"), formats([255, 2**70], "x"))
print(hashes(list(range(350))), hashes(["a", 1.5, None, (1, 2)]))
for f, args in [(hashes, ([1] * 320 + [[]],)), (formats, ([1.5], "d")), (formats, ([Loud()], "bad")), (formats, ([[]], "x")), (merges, ("x",))]:
    try:
        f(*args)
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)


def doubles(a, b):
    return {**a, **b}, dict(x=1, **a)


print(doubles({"y": 1}, {"y": 2}))
for a in ({"x": 1}, 5, {1: 2}):
    try:
        print(doubles(a, {}))
    except TypeError as error:
        print(error)
try:
    [*5]
except TypeError as error:
    print(error)
a = b = []
a += [1]
print(a is b, [[]] * 2, (lambda *x: x)(*[1], *"ab"), [1, 2, 3][::-1])
