"""`isinstance` of all kinds of objects and classes: what says it is of another class, tuples, metaclasses, abstract classes, unions."""

import abc
import collections.abc
import types
import weakref


class Base:
    pass


class Derived(Base):
    pass


class Other:
    pass


class Claims:
    @property
    def __class__(self):
        return Base


class ClaimsByAttribute:
    def __getattribute__(self, name):
        return Derived if name == "__class__" else object.__getattribute__(self, name)


class Falls:
    def __getattr__(self, name):
        return Base


class Constant:
    __class__ = Base


class Raises:
    @property
    def __class__(self):
        raise ValueError("no class")


class Meta(type):
    def __instancecheck__(cls, instance):
        return "answer" if instance == 1 else []


class Asked(metaclass=Meta):
    pass


class Plain(type):
    pass


class OfPlain(metaclass=Plain):
    pass


class Abstract(abc.ABC):
    @abc.abstractmethod
    def method(self):
        pass


class Registered:
    pass


Abstract.register(Registered)
kept = Derived()
objects = [1, True, "s", None, 2.0, [], {}, (), Base(), Derived(), Other(), Claims(), ClaimsByAttribute(), Falls(), Constant(), Raises(),
           weakref.proxy(kept), Asked(), OfPlain(), Registered(), int, Base, Plain, types, len, object()]
classes = [int, str, bool, object, type, Base, Derived, Other, (int, str), (Base, Other), (), (int, (str, (Base,))), Asked, OfPlain, Abstract,
           collections.abc.Sequence, int | str, list[int], 1, (Base, 1), (1, Base), types.ModuleType]


def asks(x, cls):
    return isinstance(x, cls)


def asks_constants(x):
    return (isinstance(x, Base), isinstance(x, (int, str)), isinstance(x, (Derived, Other, list)), isinstance(x, Abstract),
            isinstance(x, Other), isinstance(x, dict))


def all_answers():
    found = []
    for x in objects:
        row = []
        for cls in classes:
            try:
                row.append(asks(x, cls))
            except (TypeError, ValueError) as error:
                row.append(str(error)[:30])
        try:
            row.append(asks_constants(x))
        except (TypeError, ValueError) as error:
            row.append(str(error)[:30])
        found.append(row)
    return found


for turn in range(30):
    answers = all_answers()
for row in answers:
    print(row)
# What a class says changes.
Other.__getattribute__ = lambda self, name: Base if name == "__class__" else object.__getattribute__(self, name)
print(asks(Other(), Base), asks_constants(Other()))
del Other.__getattribute__
print(asks(Other(), Base), asks_constants(Other()))
Derived.__bases__ = (Other,)
print(asks(kept, Base), asks(kept, Other), asks_constants(kept))
one = Other()
one.__class__ = Derived
print(asks(one, Derived), asks_constants(one))
try:
    asks(1)
except TypeError as error:
    print(error)
try:
    isinstance(1)
except TypeError as error:
    print(error)
