"""What the programs share: calling a function until it is compiled, and showing each different outcome once.

An outcome is the result's repr, or the exception with its notes, its chain and, of every frame in the program, lines and columns.
"""

HERE = __file__


def told(error):
    """What can be seen of an exception: kind, text, notes, frames, and those of what it came from."""
    out = []
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        out.append((type(error).__name__, str(error), getattr(error, "__notes__", None), frames(error), error.__suppress_context__))
        error = error.__cause__ or error.__context__
    return out


def frames(error):
    """(name, line in the function, end line, column, end column) of each frame of the traceback that is the program's."""
    out = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename != HERE:
            line, end, column, end_column = list(code.co_positions())[trace.tb_lasti // 2]
            first = code.co_firstlineno
            shown = trace.tb_lineno - first
            out.append((code.co_name, shown, None if end is None else end - first, column, end_column)
                       + (() if line == trace.tb_lineno else (line,)))
        trace = trace.tb_next
    return out


def outcome(function, *args, **kwargs):
    try:
        return repr(function(*args, **kwargs))
    except Exception as error:
        return f"raised {told(error)}"


def hot(function, *args, times=100, **kwargs):
    """Call `times` times, and print each different outcome once, in the order met."""
    seen = []
    for _ in range(times):
        what = outcome(function, *args, **kwargs)
        if what not in seen:
            seen.append(what)
    print(getattr(function, "__name__", type(function).__name__), *seen)


def each(function, *cases, times=60):
    """`hot` for each tuple of arguments; then all of them in turn, so that one compiled function meets every case."""
    for case in cases:
        hot(function, *case, times=times)
    rows = [[outcome(function, *case) for case in cases] for _ in range(3)]
    print("  again", *(hash_of(text) for text in rows[0]), "" if rows[0] == rows[1] == rows[2] else rows)


def hash_of(text):
    """A short number for a text, the same in every process."""
    n = 7
    for c in text:
        n = (n * 31 + ord(c)) % 1000003
    return n


def names(frame):
    """The functions, lines and instructions from a frame outwards, as far as the program's top."""
    found = []
    while frame is not None and frame.f_code.co_name != "<module>":
        found.append((frame.f_code.co_name, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return found
