"""A guard stays where what was derived from it does not use the guarded value."""


class First:
    @classmethod
    def find(cls, a, b=None, c=None):
        return ("first", a, b, c)


class Second:
    def find(self, a, b=None, c=None):
        return ("second", a, b, c)


def search(finder, name):
    # The callee is bet on by its function; bound methods of several kinds come here.
    find = finder.find
    return find(name, None)


def is_none(x):
    x + 1 if x else 0
    return x is None


def plus(x):
    y = x + 1
    return y is None, x is None


def truth(x):
    if x:
        return "true"
    return "false"


def main():
    for _ in range(100):
        search(First, "x")
    print(search(First, "x"), search(Second(), "y"))
    for _ in range(100):
        search(Second(), "y")
    print(search(First, "x"), search(Second(), "y"))
    for _ in range(100):
        truth(None)
        is_none(None)
        plus(3)
    print(truth(None), truth(1), truth("a"), truth([]))
    print(is_none(None), is_none(0), is_none(1))
    print(plus(3), plus(2.5))


main()
