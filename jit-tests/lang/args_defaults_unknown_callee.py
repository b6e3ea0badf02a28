"""Defaults of functions that the caller does not know: too few, just enough and too many arguments, and defaults that are
replaced, lost, and die with their last holder."""


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def three(a, b="b", c="c", /):
    return a, b, c


def all_have(a=1, b=2):
    return a + b


def more_defaults(a, b):
    return a, b


def keyword_too(a, b=2, *, c=3):
    return a, b, c


def star_too(a, b=2, *rest):
    return a, b, rest


def drops(a, b="kept"):
    a = None
    print("dropped", b)
    return a


FUNCTIONS = [three, all_have, keyword_too, star_too]


def call_each(functions):
    for function in functions:
        for call in (lambda f: f(), lambda f: f(5), lambda f: f(5, 6), lambda f: f(5, 6, 7), lambda f: f(5, 6, 7, 8)):
            try:
                print(function.__name__, call(function))
            except TypeError as error:
                print(error)


def one(function, value):
    return function(value)


def replaced():
    for defaults in (("x", "y"), ("only",), None, (1, 2, 3, 4), ("b", "c")):
        three.__defaults__ = defaults
        for function in (three,):
            try:
                print(one(function, 0))
            except TypeError as error:
                print(error)


def lost():
    def local(a, b=Loud("default")):
        local.__defaults__ = None
        print("called", a, b.name)
        return b

    print(one(local, 1).name)
    print("after")


for _ in range(3):
    call_each(FUNCTIONS)
    replaced()
    lost()
    print(one(drops, Loud("argument")))
    more_defaults.__defaults__ = ("a", "b")
    print((lambda f: f())(more_defaults), one(more_defaults, 1))
