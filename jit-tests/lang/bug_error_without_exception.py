"""A slot of a C class reports an error and sets no exception: the interpreter raises a SystemError for it."""

try:
    import ctypes
except ImportError:
    ctypes = None

# Offsets in a class, and in its table of slots for numbers.
NUMBERS, GETATTRO = 96, 144
SUBTRACT = 8


class Odd:
    pass


def attribute(x):
    return x.attribute


def difference(x):
    return x - 1


def handled(x):
    try:
        return x.attribute
    except SystemError as error:
        return repr(error)


def unseen(x):
    try:
        return x.attribute
    except SystemError:
        return "handled"


def in_loop(x):
    seen = 0
    for _ in range(100):
        try:
            x.attribute
        except SystemError:
            seen += 1
    return seen


def generate(x):
    try:
        yield x.attribute
    except SystemError as error:
        yield repr(error)
    yield x - 1


def lines(error):
    found = []
    trace = error.__traceback__
    while trace:
        found.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
        trace = trace.tb_next
    return found


def run():
    # It gives null, and sets nothing.
    nothing = ctypes.cast(ctypes.pythonapi.PyErr_Occurred, ctypes.c_void_p).value
    word = ctypes.c_void_p.from_address
    numbers = word(id(Odd) + NUMBERS).value
    before = word(id(Odd) + GETATTRO).value, word(numbers + SUBTRACT).value or 0
    odd = Odd()
    word(id(Odd) + GETATTRO).value = nothing
    word(numbers + SUBTRACT).value = nothing
    try:
        seen = set()
        for _ in range(200):
            for function in (attribute, difference, handled, unseen, in_loop):
                try:
                    seen.add((function.__name__, str(function(odd))))
                except SystemError as error:
                    seen.add((function.__name__, repr(error), str(lines(error))))
            generator = generate(odd)
            seen.add(("generate", next(generator)))
            try:
                next(generator)
            except SystemError as error:
                seen.add(("generate", repr(error), str(lines(error))))
    finally:
        word(id(Odd) + GETATTRO).value, word(numbers + SUBTRACT).value = before
    for line in sorted(seen):
        print(*line)


if ctypes:
    run()
