"""Uncaught at the end of the program: a chain with notes and a group, printed with lines and carets from hot code, exit code 1."""

import atexit


def inner(x):
    values = [x, x + 1]
    return (values[0] /
            (values[1] - x - 1))


def middle(x):
    try:
        return inner(x)
    except ZeroDivisionError as error:
        error.add_note("a note\nof two lines")
        raise LookupError(f"middle {x}") from error


def outer(n):
    errors = []
    for i in range(n):
        try:
            middle(i)
        except LookupError as error:
            errors.append(error)
    raise ExceptionGroup("at the end", errors[-2:])


atexit.register(print, "at exit")
for _ in range(50):
    try:
        outer(3)
    except* LookupError as group:
        count = len(group.exceptions)
print(count)
outer(60)
