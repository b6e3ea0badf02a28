"""`except ... as name`: the name goes when the clause ends, however it ends; rebound, deleted, shared with closures and globals."""

from support import each, hot


def gone():
    e = "before"
    try:
        raise ValueError(1)
    except ValueError as e:
        kept = e
    try:
        return e
    except UnboundLocalError as error:
        return str(error), repr(kept)


def rebound(how):
    e = None
    try:
        raise KeyError(how)
    except KeyError as e:
        if how == 0:
            e = 5
        elif how == 1:
            del e
        elif how == 2:
            try:
                raise ValueError("inner")
            except ValueError as e:
                pass
        elif how == 3:
            return e
        elif how == 4:
            raise
    return "e" in locals()


def in_loop(n):
    seen = []
    for i in range(n):
        try:
            if i % 2:
                raise ValueError(i)
            e = "plain"
        except ValueError as e:
            seen.append(e.args[0])
            if i > 4:
                continue
        else:
            seen.append(e)
        seen.append("e" in locals())
    return seen


def closed():
    def look():
        return e
    try:
        raise ValueError("seen by a closure")
    except ValueError as e:
        first = str(look())
    try:
        look()
    except NameError as error:
        return first, str(error)


def as_global():
    global shared
    try:
        raise OSError("global name")
    except OSError as shared:
        inside = "shared" in globals()
    return inside, "shared" in globals()


def breaks():
    while True:
        try:
            raise IndexError(9)
        except IndexError as error:
            break
    return error


class Attr:
    pass


hot(gone)
each(rebound, *[(i,) for i in range(6)])
hot(in_loop, 8)
hot(closed)
hot(as_global)
hot(breaks)
