"""Enables the JIT according to the environment: called by the command line, and by `cladonia.pth`
in every child process.

A wrong value never breaks the program: it prints one line on stderr, and the program runs
interpreted.
"""

from __future__ import annotations

import os
import sys

import cladonia
from cladonia import _options


def switched_on(name):
    return os.environ.get(name, "0") not in ("", "0")


def from_environment():
    """Enable the JIT according to the CLADONIA_* variables."""
    environ = os.environ
    if not _configure(environ):
        return
    try:
        threshold = environ.get("CLADONIA_THRESHOLD") or None
        if threshold is not None:
            threshold = _options.parse_threshold(threshold, "CLADONIA_THRESHOLD")
        force_exit = _options.check_force_exit(environ.get("CLADONIA_FORCE_EXIT") or None, "CLADONIA_FORCE_EXIT")
        threads = environ.get("CLADONIA_COMPILE_THREADS") or None
        if threads is not None:
            threads = _options.parse_compile_threads(threads, "CLADONIA_COMPILE_THREADS")
        without = _options.check_without(environ.get("CLADONIA_WITHOUT") or None, "CLADONIA_WITHOUT")
        perf = _options.parse_perf(environ.get("CLADONIA_PERF", ""), "CLADONIA_PERF")
        off_signal = _options.parse_signal(environ.get("CLADONIA_OFF_SIGNAL", ""), "CLADONIA_OFF_SIGNAL")
    except ValueError as error:
        print(f"cladonia: {error}; the JIT stays off", file=sys.stderr)
        return
    only, left_out = environ.get("CLADONIA_ONLY", ""), environ.get("CLADONIA_NOT", "")
    if only or left_out:
        from cladonia import _native

        _native.load().choose(only, left_out)
    if perf or switched_on("CLADONIA_GDB"):
        _name_code(perf)
    cladonia.enable(threshold, force_exit, switched_on("CLADONIA_ORACLE"), without, switched_on("CLADONIA_CHECK_FACTS"),
                    threads)
    if switched_on("CLADONIA_TOP"):
        from cladonia import _top

        _top.serve()
    if off_signal is not None:
        _turn_off_by(off_signal)


def _configure(environ):
    """Take options from the `pyproject.toml` here, or the file in CLADONIA_CONFIG. Return False
    for `on = false`."""
    file = environ.get("CLADONIA_CONFIG") or "pyproject.toml"
    try:
        with open(file, "rb") as opened:
            text = opened.read()
    except OSError as error:
        if environ.get("CLADONIA_CONFIG"):
            print(f"cladonia: {file}: {error.strerror}", file=sys.stderr)
        return True
    # Most have no table for Cladonia, and importing the parser takes 5 ms.
    if b"[tool.cladonia]" not in text:
        return True
    from cladonia import _config

    return _config.take(file, text, environ)


def _name_code(perf):
    """Give the names of machine code to profilers and debuggers."""
    from cladonia import _native

    # `perf record` sets it for the program. If it is set, the code generator's linker writes a map
    # of its own to the same file, with names that have no place in the source; of two lines for one
    # piece of code perf takes the first.
    os.environ.pop("PERF_BUILDID_DIR", None)
    folder = os.environ.get("JITDUMPDIR") or "." if "dump" in perf else None
    try:
        _native.load().name_code("map" in perf, folder, switched_on("CLADONIA_GDB"))
    except OSError as error:
        print(f"cladonia: names of machine code can't be written: {error}", file=sys.stderr)


def _turn_off_by(number):
    """Disable the JIT, permanently, on this signal."""
    import signal

    def off(*_):
        cladonia.disable()
        # For processes started from here on.
        os.environ["CLADONIA_OFF"] = "1"
        os.write(2, f"cladonia: process {os.getpid()}: the JIT was turned off by a signal\n".encode())

    try:
        signal.signal(number, off)
    except (OSError, ValueError) as error:
        print(f"cladonia: CLADONIA_OFF_SIGNAL: {error}", file=sys.stderr)


def beside_names(variable, file):
    """A function that returns the name of a file that each process writes: as given in this one;
    in child processes, which read the variable, the same name with the process id."""
    file = os.path.abspath(file)
    os.environ[variable] = beside = _with_pid_mark(file)
    owner = os.getpid()

    def name():
        pid = os.getpid()
        return (file if pid == owner else beside).replace("%p", str(pid))

    return name


def write_stats_at_exit(file):
    """Write `stats()` to `file` when this process ends; its children write theirs beside it, with
    their process id in the name."""
    import atexit
    # At the end its classes and functions would bring the next garbage collection forward.
    import json  # noqa: F401

    name = beside_names("CLADONIA_STATS", file)
    atexit.register(lambda: _write_stats(name(), os.getpid()))


def report_oracle_at_exit():
    """Print to stderr at the end of this process how much ran in the LIR interpreter, and which
    functions did not, with the reasons."""
    import atexit

    owner = os.getpid()

    def report():
        if os.getpid() == owner:
            print("\n".join(_oracle_lines(cladonia.stats())), file=sys.stderr)

    atexit.register(report)


def _oracle_lines(stats):
    if stats["available"]:
        yield f"cladonia: oracle: nothing ran in the LIR interpreter: {stats['available']}"
        return
    oracle, coverage = stats["oracle"], stats["coverage"]
    yield f"cladonia: oracle: {oracle['units']} units in the LIR interpreter, entered {oracle['entries']} times"
    yield (f"cladonia: oracle: left out, in Python's interpreter: {coverage['interpreted_calls']} calls and "
           f"{coverage['interpreted_loop_iterations']} loop iterations; entry stubs stay machine code")
    for reason, count in sorted(coverage["refusals"].items()):
        yield f"cladonia: oracle: left out: {count} functions: {reason}"


def _with_pid_mark(file):
    if "%p" in file:
        return file
    stem, extension = os.path.splitext(file)
    return f"{stem}.%p{extension}"


def _write_stats(file, pid):
    import gc
    import json

    # What the program has left is collected when it would be without statistics.
    collects = gc.isenabled()
    gc.disable()
    report = {"pid": pid, "argv": getattr(sys, "argv", []), "available": cladonia.available(), **cladonia.stats()}
    try:
        with open(file, "w", encoding="utf-8") as out:
            json.dump(report, out, indent=1, default=str)
            out.write("\n")
    except OSError as error:
        print(f"cladonia: the statistics can't be written: {error}", file=sys.stderr)
    finally:
        if collects:
            gc.enable()


def _is_command_line():
    """True if this process is `python -m cladonia`, which reads its own options and starts the JIT
    only for the program."""
    if sys.argv[:1] != ["-m"]:
        return False
    given = sys.orig_argv
    return "-mcladonia" in given or any(pair == ("-m", "cladonia") for pair in zip(given, given[1:]))


_called = False


def in_child():
    """Called by `cladonia.pth` if one of the variables is set."""
    global _called
    if _called:  # In a virtual environment, `site` reads each .pth file twice.
        return
    _called = True
    if sys.flags.ignore_environment or switched_on("CLADONIA_OFF") or _is_command_line():
        return
    if not any(switched_on(name) if name in _options.SWITCHES else os.environ.get(name) for name in _options.ON):
        return
    stats = os.environ.get("CLADONIA_STATS")
    if stats:
        write_stats_at_exit(stats)
    from_environment()
    report = os.environ.get("CLADONIA_REPORT")
    if report:
        from cladonia import _report

        _report.at_exit(report)
