"""Lists that a function makes itself, of whose items compiled code knows the class: others' stores must be seen all the same."""


def unknown_range(r, n, s):
    xs = [1.5, 1.5]
    t = 0.0
    for i in range(n):
        t = xs[i] + 1.0
        k = r[0]
        xs.append(s[0] if i > 17 else 2.5)
    return t


def own_range(n, s):
    r = range(3)
    xs = [1.5, 1.5]
    t = 0.0
    for i in range(n):
        t = xs[i] + 1.0
        k = r[0]
        xs.append(s[0] if i > 17 else 2.5)
    return t


def bytes_or_none(n, s):
    xs = [1.5, 1.5]
    t = 0.0
    b = None
    for i in range(n):
        t = xs[i] + 1.0
        if i >= 0:
            b = b"y"
        k = b"x" < b
        xs.append(s[0] if i > 17 else 2.5)
    return t


def other(out, s, i):
    for z in out:
        z.append(s[0] if i > 17 else 2.5)


def added_in_place(out, n, s):
    inner = [1.5, 1.5]
    t = 0.0
    out += [inner]
    for i in range(n):
        t = inner[i] + 1.0
        store(out, s, i)
    return t


def run(f, *first):
    global store
    for k in range(300):
        store = other if k & 1 else (lambda *a: other(*a))
        try:
            f(*first, 20, ["a"] if k & 1 else [1.5])
        except TypeError:
            pass
        if first and type(first[0]) is list:
            first[0].clear()
    for v in (7, "abc", 10**5, 2.5):
        try:
            print(f.__name__, f(*first, 24, [v]))
        except TypeError as error:
            print(f.__name__, error)
        if first and type(first[0]) is list:
            first[0].clear()


run(unknown_range, range(3))
run(own_range)
run(bytes_or_none)
run(added_in_place, [])
