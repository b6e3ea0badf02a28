"""finally: every way into it (falling through, return, raise, break, continue) with every way out of it, in a loop and nested."""

from support import each


def one(inside, at_end):
    out = []
    for i in range(3):
        out.append(i)
        try:
            if inside == "return":
                return "inside", out
            if inside == "raise":
                raise ValueError(i)
            if inside == "break":
                break
            if inside == "continue":
                continue
            out.append("through")
        finally:
            out.append("finally")
            if at_end == "return":
                return "at end", out
            if at_end == "raise":
                raise KeyError(i)
            if at_end == "break":
                break
            if at_end == "continue":
                continue
    else:
        out.append("else")
    return "after", out


def nested(inside, at_end):
    out = []
    try:
        for i in range(2):
            try:
                try:
                    out.append(one(inside, at_end)[0])
                finally:
                    out.append(("inner", i))
            except LookupError as error:
                out.append(type(error.__context__).__name__)
                if i:
                    raise
            finally:
                out.append(("outer", i))
                if i and inside == "break":
                    return out
    except ArithmeticError:
        out.append("never")
    finally:
        out.append("last")
    return out


WAYS = ("through", "return", "raise", "break", "continue")
each(one, *[(a, b) for a in WAYS for b in WAYS], times=40)
each(nested, *[(a, b) for a in WAYS for b in WAYS], times=40)
