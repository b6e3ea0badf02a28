"""assert: its message evaluated only when it fails, tuples, chained comparisons, user truth, a replaced AssertionError, in loops."""

import builtins

from support import each, hot

calls = []


def message(x):
    calls.append(x)
    return f"message {x}"


def checked(x):
    assert x > 0, message(x)
    return x


def plain(x, y):
    assert 0 < x < y != 5 or not y
    return y


class Truth:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


def truth(value):
    assert Truth(value), Truth
    return "true"


def wide(x):
    assert isinstance(x, int), (
        type(x),
        x,
    )
    return x


def in_loop(items):
    failed = []
    for item in items:
        try:
            assert item, item
        except AssertionError as error:
            failed.append(error.args)
    return failed


def replaced(n):
    out = []
    saved = builtins.AssertionError
    for i in range(n):
        if i == n - 3:
            builtins.AssertionError = KeyError
        try:
            assert i < 0, i
        except Exception as error:
            out.append(repr(error))
    builtins.AssertionError = saved
    return out[-5:]


each(checked, (1,), (0,), (-2.5,), ("x",))
print(len(calls), calls[0], calls[-1])
each(plain, (1, 2), (1, 5), (3, 2), (0, 0), (-1, "x"))
each(truth, (True,), (False,), (1,), (None,))
each(wide, (3,), ("t",))
hot(in_loop, [1, 0, "", "x", None, [], [0]])
print(replaced(60), replaced(60))
