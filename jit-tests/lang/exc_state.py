"""sys.exception() and sys.exc_info() through calls, generators, finally, loops and callbacks, while functions are hot."""

import sys

from support import hot


def name():
    error = sys.exception()
    kind, value, trace = sys.exc_info()
    assert value is error and (kind is type(error) if error else trace is None)
    return type(error).__name__


def generator():
    yield name()
    try:
        raise KeyError("own")
    except KeyError:
        yield name()
        yield name()
    yield name()


def in_generator():
    out = []
    g = generator()
    out.append(next(g))
    try:
        raise ValueError("consumer")
    except ValueError:
        out.append(next(g))
        out.append(name())
    out.append(name())
    out.append(next(g))
    out.append(next(g))
    return out


def in_callback():
    try:
        raise OSError("outer")
    except OSError:
        return sorted([3, 1, 2], key=lambda x: (name(), x)), list(map(lambda x: name(), (1,)))


def in_finally():
    out = []
    for i in range(3):
        try:
            try:
                if i:
                    raise LookupError(i)
            finally:
                out.append(name())
        except LookupError:
            out.append(name())
            if i == 2:
                break
        out.append(name())
    return out, name()


class Property:
    @property
    def value(self):
        return name()

    def __getattr__(self, attribute):
        return name()

    @property
    def failing(self):
        raise AttributeError("hidden")


def in_hooks():
    p = Property()
    try:
        raise TypeError
    except TypeError:
        return p.value, p.other, p.failing, name()


def nested(depth):
    try:
        raise (KeyError, ValueError, OSError)[depth % 3]
    except Exception:
        below = nested(depth - 1) if depth else ()
        return name(), *below, name()


for function in (in_generator, in_callback, in_finally, in_hooks):
    hot(function)
hot(nested, 4)
print(name())
