"""Cells: counters, late binding, nonlocal, unbound cells, classes in functions, and cells changed from outside."""


def counter(start):
    n = start

    def step(by=1):
        nonlocal n
        n += by
        return n

    def value():
        return n

    return step, value


def late(n):
    return [lambda: i for i in range(n)]


def bound(n):
    return [lambda i=i: i for i in range(n)]


def adder(k):
    def add(x):
        return x + k
    return add


def accumulate(f, values):
    s = 0
    for v in values:
        s += f(v)
    return s


def loop_with_cell(n):
    total = 0

    def bump(x):
        nonlocal total
        total += x

    for i in range(n):
        bump(i)
        total -= 1
    return total


def unbound(flag):
    if flag:
        x = 1

    def read():
        return x

    return read()


def deep(a):
    def one(b):
        def two(c):
            nonlocal a
            a += c
            return a, b, c
        return two
    return one


def make_class(k):
    class C:
        value = k

        def get(self):
            return k, __class__.__name__
    return C


step, value = counter(10)
for i in range(400):
    step()
print(step(5), value(), step(0.5), value())
print([f() for f in late(3)], [f() for f in bound(3)])
print(accumulate(adder(3), range(400)), accumulate(adder(0.5), [1.0] * 300 + [2]), accumulate(adder("b"), []))
print(loop_with_cell(400))
print(unbound(True))
try:
    unbound(False)
except NameError as error:
    print(type(error).__name__, error)
two = deep(1)(2)
for i in range(350):
    r = two(i)
print(r, make_class(4)().get(), make_class("q").value)
add = adder(1)
total = 0
for i in range(400):
    if i == 390:
        add.__closure__[0].cell_contents = 100
    total += add(i)
print(total)
del add.__closure__[0].cell_contents
try:
    add(1)
except NameError as error:
    print(error)
try:
    accumulate(adder("x"), range(3))
except TypeError as error:
    print(error, error.__traceback__.tb_next.tb_next.tb_lineno)
