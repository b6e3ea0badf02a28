"""A call with wrong arguments drops them in the interpreter's order."""


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def one(a):
    return a


def pair(a, b=None):
    return a


def attempt(what, call):
    try:
        call()
    except TypeError as error:
        print(what, error)


def too_many():
    one(Loud("first"), Loud("second"))


def way_too_many():
    pair(Loud("first"), Loud("second"), Loud("third"), Loud("fourth"))


def unknown_name():
    one(Loud("first"), z=Loud("second"))


def twice():
    pair(Loud("first"), a=Loud("second"))


def missing():
    pair(b=Loud("first"))


for _ in range(3):
    one(1)
    pair(1, 2)
    attempt("too many", too_many)
    attempt("way too many", way_too_many)
    attempt("unknown", unknown_name)
    attempt("twice", twice)
    attempt("missing", missing)
