"""nonlocal and closures: shared and separate cells, several levels, cells changed from outside, unbound ones, counters, recursion through cells."""

from support import each, hot


def counter(start):
    def up(n=1):
        nonlocal start
        start += n
        return start
    def down():
        nonlocal start
        start -= 1
        return start
    return up, down, lambda: start


def used(start, n):
    up, down, look = counter(start)
    for i in range(n):
        up(i)
        if i % 3 == 0:
            down()
    return look()


def levels(n):
    a = 0
    def one():
        nonlocal a
        b = 10
        def two():
            nonlocal a, b
            a += 1
            b += a
            def three():
                nonlocal a
                a *= 2
                return a, b
            return three()
        return two(), b
    return [one() for _ in range(n)], a


def separate(n):
    fs = []
    for i in range(n):
        def f(i=i):
            def g():
                nonlocal i
                i += 1
                return i
            return g
        fs.append(f())
    return [f() for f in fs for _ in range(2)]


def late(flag):
    def f():
        return value
    if flag:
        value = 5
    return f()


def contents():
    x = 1
    def f():
        return x + 1
    cell = f.__closure__[0]
    out = [f()]
    cell.cell_contents = 10
    out += [f(), x]
    del cell.cell_contents
    try:
        f()
    except NameError as error:
        out.append(str(error))
    cell.cell_contents = "text"
    try:
        f()
    except TypeError as error:
        out.append(str(error))
    return out, f.__code__.co_freevars


def recursive(n):
    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)
    def even(k):
        return k == 0 or odd(k - 1)
    def odd(k):
        return k != 0 and even(k - 1)
    return fact(n), even(n), odd(n)


def argument_cell(x, *args, k=1, **kw):
    def f():
        nonlocal x, k
        x, k = k, x
        return x, k, args, kw
    return f(), x, k


def floats(n):
    total = 0.0
    def add(x):
        nonlocal total
        total += x
    for i in range(n):
        add(i / 2)
    if n > 5:
        add(2**70)
    return total


each(used, (0, 10), (0.5, 7), ("a", 2), (2**62, 9))
hot(levels, 3)
hot(separate, 3)
each(late, (True,), (False,))
hot(contents)
each(recursive, (0,), (5,), (30,))
hot(argument_cell, 1, 2, k=3, z=4)
each(floats, (4,), (9,))
