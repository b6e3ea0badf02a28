"""isinstance of abstract base classes: answers that may be kept, and all that makes them others."""

import abc
import collections.abc as c


def count(objects, class_, n):
    found = 0
    for i in range(n):
        for o in objects:
            if isinstance(o, class_):
                found += 1
    return found


def each(objects, class_):
    return [isinstance(o, class_) for o in objects]


class Plain:
    pass


class Sized:
    def __len__(self):
        return 3


class Own(c.Mapping):
    def __getitem__(self, key):
        return key

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0


class Lying:
    """Says it is a dict."""

    @property
    def __class__(self):
        return dict


objects = [1, "a", [1], {}, (1,), {1}, 1.5, None, Plain(), Sized(), Own(), Lying(), iter([]), range(3), Plain, len]
for class_ in c.Mapping, c.Sequence, c.Iterable, c.Sized, c.Hashable, c.Callable, c.MutableSet, (int, c.Mapping), (c.Iterator, (str, c.Set)):
    print(getattr(class_, "__name__", class_), count(objects, class_, 300), each(objects, class_))


class Later(abc.ABC):
    pass


print(count([Plain(), 1], Later, 300))
Later.register(Plain)
print(count([Plain(), 1], Later, 300))
Later.register(int)
print(count([Plain(), 1], Later, 300))


class Hooked(abc.ABC):
    calls = 0
    says = NotImplemented

    @classmethod
    def __subclasshook__(cls, other):
        cls.calls += 1
        return cls.says


class A:
    pass


class B:
    pass


print(count([A()], Hooked, 300), Hooked.calls)
Hooked.says = True
print(count([A()], Hooked, 300), Hooked.calls, count([B()], Hooked, 300), Hooked.calls)
Later.register(str)
print(count([A()], Hooked, 300), Hooked.calls)
Hooked.says = False
print(count([A(), B()], Hooked, 300), Hooked.calls)


class Failing(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        raise ValueError(other.__name__)


for class_ in Failing, (int, Failing, c.Sized):
    try:
        count([1, Plain()], class_, 300)
    except ValueError as e:
        print("ValueError", e)
print(count([1], (int, Failing), 300))


class Meta(abc.ABCMeta):
    asked = 0

    def __instancecheck__(cls, instance):
        Meta.asked += 1
        return super().__instancecheck__(instance)


class Special(metaclass=Meta):
    pass


print(count([1, Special()], Special, 300), Meta.asked)


class Checking(abc.ABCMeta):
    asked = 0

    def __subclasscheck__(cls, other):
        Checking.asked += 1
        return Checking.asked % 2 == 0


class Odd(metaclass=Checking):
    pass


print(count([1], Odd, 300), Checking.asked)


class Quiet(abc.ABCMeta):
    pass


class Calm(metaclass=Quiet):
    pass


Calm.register(float)
print(count([1, 1.5], Calm, 300))
Quiet.__instancecheck__ = lambda cls, instance: True
print(count([1, 1.5], Calm, 300))
del Quiet.__instancecheck__
print(count([1, 1.5], Calm, 300))

o = Plain()
print(count([o], c.Mapping, 300))
o.__class__ = Sized
print(count([o], c.Sized, 300), count([o], c.Mapping, 300))

original = abc.ABCMeta.__instancecheck__
code = original.__code__
original.__code__ = (lambda cls, instance: True).__code__
print(count([1, None], c.Mapping, 300))
original.__code__ = code
print(count([1, None], c.Mapping, 300))
