"""raise ... from: causes given as classes, None and wrong things; contexts set, kept, cut and circular; notes."""

from support import each, hot, told


def causes(cause):
    try:
        raise KeyError("first")
    except KeyError:
        raise ValueError("second") from cause


def kept(depth):
    try:
        if depth == 0:
            raise OSError(0)
        kept(depth - 1)
    except (OSError, ValueError) as error:
        error.add_note(f"at {depth}")
        raise ValueError(depth)


def circle():
    a, b, c = ValueError("a"), ValueError("b"), ValueError("c")
    out = []
    try:
        try:
            try:
                raise a
            except ValueError:
                raise b
        except ValueError:
            raise c
    except ValueError:
        try:
            raise a
        except ValueError as error:
            while error is not None and len(out) < 6:
                out.append(str(error))
                error = error.__context__
    return out


def same_again():
    error = ValueError("once")
    try:
        try:
            raise error
        except ValueError:
            raise error
    except ValueError as caught:
        return caught.__context__, len(told(caught)[0][3])


def in_finally():
    try:
        try:
            raise KeyError("body")
        finally:
            {}["missing"]
    except KeyError as error:
        return told(error)


def notes(n):
    error = Exception("noted")
    try:
        for i in range(n):
            error.add_note(f"note {i}")
        error.add_note(n)
    except TypeError as wrong:
        raise error from wrong


def set_by_hand():
    error = ValueError(1)
    error.__cause__ = KeyError(2)
    before = error.__suppress_context__
    error.__suppress_context__ = False
    try:
        error.__context__ = 5
    except TypeError as wrong:
        return before, str(wrong), repr(error.__cause__)


each(causes, (None,), (OSError,), (OSError("given"),), (5,), (int,), (Exception,), (StopIteration(3),))
hot(kept, 4)
hot(circle)
hot(same_again)
hot(in_finally)
hot(notes, 3)
hot(set_by_hand)
