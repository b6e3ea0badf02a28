"""Valid values of options. The API, the command line and the environment check them here, each
with its own name for the option."""

from __future__ import annotations

import os
import sys

STAGES = ("bytecode", "hir", "selected", "lir", "clif", "asm")
FORCE_EXIT_FORMS = "'none', 'count', 'first', 'seed:N' or 'one-by-one:K'"
#: The compiler's passes that can be disabled.
OPTIONAL_PASSES = ("types", "split", "inline", "virtuals", "headers", "heap", "held", "checks", "memory", "number", "paths", "slices", "exceptions", "ends", "bounds", "sequences", "ranges", "preload", "reuse")
LARGEST_THRESHOLD = 2**31 - 1
MOST_COMPILE_THREADS = 64

#: The environment variables that enable the JIT in a process (`cladonia.pth` checks the same
#: ones).
ON = ("CLADONIA_ON", "CLADONIA_THRESHOLD", "CLADONIA_FORCE_EXIT", "CLADONIA_ORACLE", "CLADONIA_WITHOUT", "CLADONIA_CHECK_FACTS", "CLADONIA_COMPILE_THREADS", "CLADONIA_STATS", "CLADONIA_REPORT")
#: The boolean ones: empty or 0 is False. Empty values of the others are ignored.
SWITCHES = ("CLADONIA_ON", "CLADONIA_ORACLE", "CLADONIA_CHECK_FACTS")


def _check_number(value, name, largest):
    if value is None:
        return None
    if type(value) is not int:
        raise TypeError(f"{name} must be an int or None, not {type(value).__name__}")
    if not 0 <= value <= largest:
        raise ValueError(f"{name} must be from 0 to {largest}, not {value}")
    return value


def _number(text, name):
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{name} must be a whole number from 0, not {text!r}")
    return int(text)


def check_threshold(value, name="threshold"):
    return _check_number(value, name, LARGEST_THRESHOLD)


def parse_threshold(text, name):
    """The threshold in an option's or variable's text."""
    return check_threshold(_number(text, name), name)


def check_compile_threads(value, name="compile_threads"):
    return _check_number(value, name, MOST_COMPILE_THREADS)


def parse_compile_threads(text, name):
    """The number of threads in an option's or variable's text."""
    return check_compile_threads(_number(text, name), name)


def cache_folder():
    """The folder that keeps machine code between processes, as bytes; None if there is none."""
    environ = {} if sys.flags.ignore_environment else os.environ
    folder = environ.get("CLADONIA_CACHE")
    if folder == "off":
        return None
    if not folder:
        caches = environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(caches):
            caches = os.path.join(os.path.expanduser("~"), ".cache")
        if not os.path.isabs(caches):  # There is no home.
            return None
        folder = os.path.join(caches, "cladonia")
    return os.fsencode(os.path.abspath(folder))


def parse_perf(text, name):
    """The interfaces of Linux perf in a variable's text: `map`, `dump`."""
    ways = {word.strip() for word in text.split(",")} - {""}
    if not ways <= {"map", "dump"}:
        raise ValueError(f"{name} must be map, dump or both with a comma between, not {text!r}")
    return ways


def parse_signal(text, name):
    """The number of the signal that a variable names: USR2, SIGUSR2, RTMIN+3; None if it is
    empty."""
    if not text:
        return None
    import signal

    word, plus, more = text.upper().removeprefix("SIG").partition("+")
    number = getattr(signal, f"SIG{word}", None)
    if number is None or (plus and not (word == "RTMIN" and more.isdigit())) or number + int(more or 0) >= signal.NSIG:
        raise ValueError(f"{name} must be the name of a signal, such as USR2 or RTMIN+3, not {text!r}")
    return number + int(more or 0)


def check_force_exit(value, name="force_exit"):
    if value is None:
        return None
    if type(value) is not str:
        raise TypeError(f"{name} must be a str or None, not {type(value).__name__}")
    kind, colon, number = value.partition(":")
    if value in ("none", "count", "first"):
        return value
    if kind in ("seed", "one-by-one") and colon and number.isascii() and number.isdigit() and int(number) < 2**64:
        return value
    raise ValueError(f"{name} must be {FORCE_EXIT_FORMS}, not {value!r}")


def check_switch(value, name):
    if type(value) is not bool:
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return value


def check_without(value, name="without"):
    """Names of passes in one text, separated by commas."""
    if value is None:
        return None
    if type(value) is not str:
        raise TypeError(f"{name} must be a str or None, not {type(value).__name__}")
    for word in value.split(","):
        if word.strip() not in OPTIONAL_PASSES:
            raise ValueError(f"{name} must be names from {', '.join(OPTIONAL_PASSES)}, separated by commas, not {value!r}")
    return value


def check_stage(value, name="stage"):
    if type(value) is not str:
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if value not in STAGES:
        raise ValueError(f"{name} must be one of {', '.join(STAGES)}, not {value!r}")
    return value
