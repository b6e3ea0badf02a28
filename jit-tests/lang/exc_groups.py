"""except*: splitting, naked groups, what is left, several clauses, nesting, reraising within a clause, names, notes and tracebacks."""

from support import each


def show(error):
    if isinstance(error, BaseExceptionGroup):
        return f"{type(error).__name__}({error.message!r}, [{', '.join(show(e) for e in error.exceptions)}])"
    return repr(error)


def handle(make):
    out = []
    try:
        try:
            made = make()
            if made is not None:
                raise made
            out.append("nothing")
        except* ValueError as group:
            out.append(("value", show(group)))
        except* (KeyError, IndexError) as group:
            out.append(("lookup", show(group)))
            if len(group.exceptions) > 1:
                raise
        except* OSError:
            raise RuntimeError("from os")
        else:
            out.append("else")
        finally:
            out.append("finally")
    except BaseException as error:
        out.append(("left", show(error), show(error.__context__) if error.__context__ else None, error.__suppress_context__))
    return out, "group" in locals()


def group(*errors):
    return ExceptionGroup("g", list(errors))


def deep():
    return group(ValueError(1), group(KeyError(2), ValueError(3), group(TypeError(4))), OSError(5))


class Mine(ExceptionGroup):
    def derive(self, excs):
        return Mine("derived " + self.message, excs)


each(handle, *[(m,) for m in (
    lambda: None, lambda: ValueError("naked"), lambda: TypeError("naked"), lambda: group(ValueError(1)), lambda: group(KeyError(1), KeyError(2)),
    lambda: group(TypeError(1), ValueError(2)), deep, lambda: group(OSError(1), ValueError(2), KeyError(3)),
    lambda: Mine("mine", [ValueError(1), TypeError(2)]), lambda: BaseExceptionGroup("base", [KeyboardInterrupt(), ValueError(1)]),
    lambda: 1 / 0, lambda: group())], times=40)
