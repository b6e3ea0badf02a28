"""`isinstance` of the program's classes, where it becomes part of who calls it and the class is known there."""


class Never(type):
    def __instancecheck__(cls, instance):
        asked.append(cls.__name__)
        return False


class Plain:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if not isinstance(other, Plain):
            raise TypeError(type(other).__name__)
        return Plain(self.x + other.x)

    def is_kept(self, other):
        return isinstance(other, Kept)


class Derived(Plain):
    pass


class Kept(metaclass=Never):
    def __init__(self, x):
        self.x = x

    def is_kept(self, other):
        return isinstance(other, Kept)


class Other:
    def __init__(self, x):
        self.x = x


class Below(Kept):
    pass


def add(n, a, b):
    total = 0
    for i in range(n):
        total += (a + b).x
    return total


def kept(n, a, b):
    count = 0
    for i in range(n):
        count += a.is_kept(b)
    return count


asked = []
for _ in range(3):
    print(add(60, Plain(1), Plain(2)))
print(add(60, Plain(1), Derived(2)), add(60, Derived(1), Derived(2)))
for others in ([Other(3)], [Plain(1), Other(3)]):
    try:
        for other in others:
            print(add(60, Plain(1), other))
    except TypeError as error:
        print(error)
for _ in range(3):
    print(kept(60, Kept(1), Kept(2)), len(asked))
print(kept(60, Kept(1), Below(2)), len(asked))
print(kept(60, Plain(1), Kept(2)), len(asked))
changed = Plain(5)
print(add(60, Plain(1), changed))
changed.__class__ = Other
try:
    print(add(60, Plain(1), changed))
except TypeError as error:
    print(error)
changed.__class__ = Derived
print(add(60, Plain(1), changed))
own, Plain = Plain, Other
try:
    print(add(60, own(1), own(2)))
except TypeError as error:
    print(error)
Plain = own
print(add(60, own(1), own(2)))
isinstance = lambda a, b: False
try:
    print(add(60, own(1), own(2)))
except TypeError as error:
    print(error)
