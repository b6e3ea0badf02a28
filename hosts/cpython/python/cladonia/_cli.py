"""`python -m cladonia [options] script.py | -m module | -c code | -`: runs a program like python
itself, with the JIT on."""

from __future__ import annotations

import os
import sys

from cladonia import _native, _options, _start

USAGE = """\
usage: python -m cladonia [options] script.py [args] | -m module [args] | -c code [args] | - [args]

   or: python -m cladonia export script.py [-o FILE.tbc] [--no-run | --bytecode | --jit [N]]
   or: python -m cladonia top [PID]

Runs a program as python does, with the JIT on. Processes started by the program inherit the options.

options:
  --threshold N       compile code that has run N times; 0 compiles before the first execution
  --compile-threads N threads that generate machine code beside the program (default 1);
                      0 generates it on the program's own thread
  --off               run interpreted
  --report FILE.html  write a page about the run when it ends: times, compiled functions,
                      and the reasons why others are not compiled
  --stats FILE.json   write statistics when the program ends
  --force-exit=HOW    make guards fail on purpose: none (only record which are
                      executed), count (only count executions), first, seed:N or
                      one-by-one:K
  --without PASS,...  disable passes of the compiler (split, inline, virtuals, memory, ...),
                      to measure the effect of each
  --check-facts       check each fact about memory that compiled code could rely
                      on; a false one ends the process
  --oracle            run compiled code in the LIR interpreter, slowly, in place of machine code; for tests
  --version           print the version, and if the JIT can work here
  --help              print this
"""


class BadOption(Exception):
    """An option on the command line that can't be used; the message names it."""


class Command:
    """The parsed command line."""

    def __init__(self):
        self.threshold = None
        self.compile_threads = None
        self.off = False
        self.stats = None
        self.report = None
        self.force_exit = None
        self.oracle = False
        self.without = None
        self.check_facts = False
        self.kind = None  # "script", "module", "code", "stdin", "help" or "version"
        self.what = None
        self.args = []


def read(argv):
    """Parse the command line; all words after the program's name are the program's arguments."""
    command = Command()
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in ("--threshold", "--compile-threads", "--stats", "--report", "--force-exit", "--without"):
            if not equals:
                if not rest:
                    raise BadOption(f"{name} needs a value")
                value = rest.pop(0)
            _set(command, name, value)
        elif word == "--off":
            command.off = True
        elif word == "--oracle":
            command.oracle = True
        elif word == "--check-facts":
            command.check_facts = True
        elif word in ("-h", "--help", "--version"):
            command.kind = word.strip("-").replace("h", "help") if word == "-h" else word[2:]
            return command
        elif word[:2] in ("-m", "-c"):
            kind = "module" if word[1] == "m" else "code"
            if word[2:]:
                rest.insert(0, word[2:])
            if not rest:
                raise BadOption(f"{word[:2]} needs a {kind if kind == 'module' else 'program text'}")
            return _program(command, kind, rest)
        elif word == "-":
            return _program(command, "stdin", [word, *rest])
        elif word.startswith("-") and word != "--":
            raise BadOption(f"unknown option {word}")
        else:
            return _program(command, "script", rest if word == "--" else [word, *rest])
    raise BadOption("no program given")


def _program(command, kind, rest):
    if not rest:
        raise BadOption("no program given")
    command.kind, command.what, command.args = kind, rest[0], rest[1:]
    return command


def _set(command, name, value):
    try:
        if name == "--threshold":
            command.threshold = _options.parse_threshold(value, name)
        elif name == "--compile-threads":
            command.compile_threads = _options.parse_compile_threads(value, name)
        elif name == "--force-exit":
            command.force_exit = _options.check_force_exit(value, name)
        elif name == "--without":
            command.without = _options.check_without(value, name)
        elif not value:
            raise ValueError(f"{name} needs the name of a file")
        elif name == "--report":
            command.report = value
        else:
            command.stats = value
    except ValueError as error:
        raise BadOption(str(error)) from None


def main():
    if sys.argv[1:2] == ["export"]:
        from cladonia import _export

        sys.exit(_export.main(sys.argv[2:]))
    if sys.argv[1:2] == ["top"]:
        from cladonia import _top

        sys.exit(_top.main(sys.argv[2:]))
    try:
        command = read(sys.argv[1:])
    except BadOption as error:
        print(f"cladonia: {error}\n{USAGE.splitlines()[0]}", file=sys.stderr)
        sys.exit(2)
    if command.kind == "help":
        print(USAGE, end="")
        return
    if command.kind == "version":
        import cladonia

        reason = cladonia.available() or "the JIT can work here"
        print(f"cladonia {cladonia.__version__} on {_native.load().interpreter()}: {reason}")
        return
    _set_environment(command)
    run = _PROGRAMS[command.kind](command)
    if run is None:
        # python itself also runs directories and zip files through runpy.
        import runpy

        sys.argv = [command.what, *command.args]
        _run(lambda: runpy._run_module_as_main("__main__", False), command)
    else:
        _run(run, command)


def _set_environment(command):
    """Put the options into the environment, for child processes."""
    environ = os.environ
    command.off = command.off or _start.switched_on("CLADONIA_OFF")
    if command.off:
        environ["CLADONIA_OFF"] = "1"
        for name in _options.ON:
            environ.pop(name, None)
        return
    environ["CLADONIA_ON"] = "1"
    if command.threshold is not None:
        environ["CLADONIA_THRESHOLD"] = str(command.threshold)
    if command.compile_threads is not None:
        environ["CLADONIA_COMPILE_THREADS"] = str(command.compile_threads)
    if command.force_exit is not None:
        environ["CLADONIA_FORCE_EXIT"] = command.force_exit
    if command.check_facts:
        environ["CLADONIA_CHECK_FACTS"] = "1"
    if command.without is not None:
        environ["CLADONIA_WITHOUT"] = command.without
    if command.oracle:
        environ["CLADONIA_ORACLE"] = "1"


def _run(program, command):
    """Run `program` with the JIT on. An exception of the program looks as if python had run it."""
    if command.stats or (not command.off and os.environ.get("CLADONIA_STATS")):
        _start.write_stats_at_exit(command.stats or os.environ["CLADONIA_STATS"])
    if command.oracle and not command.off and not command.stats:
        _start.report_oracle_at_exit()
    if command.off and command.report:
        print("cladonia: no report is written: the JIT is off", file=sys.stderr)
    if not command.off:
        _start.from_environment()
        # After the JIT has registered its own exit handler, since the last registered one runs
        # first.
        if command.report or os.environ.get("CLADONIA_REPORT"):
            from cladonia import _report

            _report.at_exit(command.report or os.environ["CLADONIA_REPORT"])
    try:
        program()
    except SystemExit:
        raise
    except BaseException:
        _hide_own_frames()
        raise


def _hide_own_frames():
    """Make the traceback that python is about to print start at the program's first frame.

    The exception is passed on to the interpreter, so exit codes, `-i` and an interrupt's signal
    stay the interpreter's own; only its hook is replaced, once.
    """
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        return

    def without_own_frames(kind, error, trace):
        sys.excepthook = hook
        below = trace
        while trace is not None:
            if trace.tb_frame.f_globals is own_globals:
                below = trace.tb_next
            trace = trace.tb_next
        error.__traceback__ = below
        sys.last_traceback = below
        hook(kind, error, below)

    own_globals = globals()
    sys.excepthook = without_own_frames


def _new_main(loader, **names):
    """A new `__main__` module, with the names that python gives it."""
    import builtins

    main = type(sys)("__main__")
    # From 3.14 on, annotations are created on first access.
    annotations = {} if sys.version_info >= (3, 14) else {"__annotations__": {}}
    # Up to 3.14, a file's module also has the name of a cached one.
    cached = {"__cached__": None} if "__file__" in names and sys.version_info < (3, 15) else {}
    main.__dict__.update(__loader__=loader, __spec__=None, **annotations, __builtins__=builtins, **names, **cached)
    sys.modules["__main__"] = main
    return main.__dict__


def _set_path0(path):
    if not sys.flags.safe_path:
        sys.path[0] = path


def _script(command):
    name = command.what
    if os.path.isdir(name) or (os.path.isfile(name) and _can_import_from(name)):
        name = os.path.abspath(name)
        if sys.flags.safe_path:
            sys.path.insert(0, name)
        else:
            sys.path[0] = name
        _new_main(None)
        return None
    try:
        with open(name, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {os.path.abspath(name)!r}: [Errno {error.errno}] {error.strerror}",
              file=sys.stderr)
        sys.exit(2)
    # Like python: `__file__` is absolute, and sys.path[0] is the real folder of the script.
    path = os.path.join(os.getcwd(), name)
    from importlib.machinery import SourceFileLoader, SourcelessFileLoader

    compiled = name.endswith(".pyc")
    loader = (SourcelessFileLoader if compiled else SourceFileLoader)("__main__", path)
    _set_path0(os.path.dirname(_link_target(path)))
    sys.argv = [name, *command.args]
    namespace = _new_main(loader, __file__=path)

    def run():
        code = loader.get_code("__main__") if compiled else _native.load().compile_program(source, path, True)
        exec(code, namespace)

    return run


def _can_import_from(path):
    """True if modules can be imported from a file, as from a zip archive.

    `pkgutil.get_importer` does the same, but imports `typing` and a dozen other modules, which
    takes longer than the rest of the start.
    """
    known = sys.path_importer_cache
    if path not in known:
        known[path] = None
        for hook in sys.path_hooks:
            try:
                known[path] = hook(path)
                break
            except ImportError:
                pass
    return known[path] is not None


def _link_target(path):
    """The target of one symbolic link, as python follows it for sys.path[0]."""
    try:
        link = os.readlink(path)
    except OSError:
        return os.path.abspath(path)
    return os.path.abspath(os.path.join(os.path.dirname(path), link))


def _module(command):
    import runpy

    sys.argv = ["-m", *command.args]
    name = command.what
    _new_main(None)
    return lambda: runpy._run_module_as_main(name)


def _code(command):
    text = command.what + "\n"
    import linecache

    from importlib.machinery import BuiltinImporter

    linecache.cache["<string>"] = (len(text), None, [line + "\n" for line in text.splitlines()], "<string>")
    sys.argv = ["-c", *command.args]
    _set_path0("")
    namespace = _new_main(BuiltinImporter)
    return lambda: exec(_native.load().compile_program(text.encode(), "<string>", False), namespace)


def _stdin(command):
    from importlib.machinery import BuiltinImporter

    sys.argv = ["-", *command.args]
    _set_path0("")
    namespace = _new_main(BuiltinImporter, __file__="<stdin>")
    return lambda: exec(_native.load().compile_program(sys.stdin.buffer.read(), "<stdin>", True), namespace)


_PROGRAMS = {"script": _script, "module": _module, "code": _code, "stdin": _stdin}
