"""What an except clause names is evaluated when it is tried: side effects, raising, no classes, names bound late, subclass hooks unused."""

from support import each, hot

log = []


def note(kind):
    log.append(kind.__name__ if isinstance(kind, type) else str(kind))
    return kind


def lazily(error, first, second):
    log.clear()
    try:
        raise error
    except note(first):
        return "first", list(log)
    except (note(second), note(OSError)):
        return "second", list(log)
    except:
        return "bare", list(log)


class Hooked(type):
    def __instancecheck__(cls, other):
        log.append("asked")
        return True

    __subclasscheck__ = __instancecheck__


class Claims(Exception, metaclass=Hooked):
    pass


class Property:
    @property
    def kind(self):
        raise LookupError("no kind")


def by_property(p):
    try:
        1 / 0
    except p.kind:
        return "matched"


def unknown():
    try:
        {}[1]
    except never_defined:
        return 1


def late(i):
    global Late
    try:
        if i % 2:
            Late = KeyError
        else:
            Late = ValueError
        raise KeyError(i)
    except Late:
        return "late"


each(lazily, (ValueError(1), ValueError, KeyError), (KeyError(1), ValueError, LookupError), (OSError(1), ValueError, KeyError),
     (TypeError(1), ValueError, KeyError), (ValueError(1), Claims, Exception), (ValueError(1), 5, KeyError), (ValueError(1), (), (KeyError, ValueError)),
     (ValueError(1), KeyError, "text"), (ValueError(1), int, KeyError), (KeyboardInterrupt(), Exception, BaseException), (ValueError(1), None, 1))
hot(by_property, Property())
hot(unknown)
each(late, (1,), (2,))
