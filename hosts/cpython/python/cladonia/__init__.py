"""Cladonia: a just-in-time compiler that lives inside a stock CPython.

    python -m cladonia script.py        runs a program with the JIT on
    import cladonia; cladonia.enable()  enables it from inside a program

A program never needs Cladonia to be correct: on a Python that Cladonia can't work in, everything
runs interpreted, and `available()` returns the reason. Importing this package is cheap; the first
call that needs the native module loads it.

`cladonia.Type` is the compiler's representation of values: sets of values with their algebra. It
works without the JIT, too.

pytest finds a plugin here, after this package was imported if the JIT is on from the start:
PYTEST_DONT_REWRITE its assertions.
"""

from __future__ import annotations

from cladonia import _native
from cladonia._options import (STAGES, cache_folder, check_compile_threads, check_force_exit, check_stage, check_switch,
                               check_threshold, check_without)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar, overload

    import os

    from cladonia._cladonia import FunctionRecord, LiveCounters
    from cladonia._cladonia import Type as Type
    from cladonia._interpreted import NotCompiled
    from cladonia._report import Report
    from cladonia._warn import JitWarning

    F = TypeVar("F", bound=Callable[..., Any])

__version__ = "0.1.0"
__all__ = [
    "JitWarning", "NotCompiled", "STAGES", "annotate", "available", "compile", "disable", "dump", "enable", "explain", "functions", "is_compiled", "jit",
    "live", "metrics", "plan", "report", "serve", "stats", "why_not",
]


def available() -> str | None:
    """None if the JIT can work, otherwise one line with the reason why it can't."""
    return _native.load().available()


def enable(threshold: int | None = None, force_exit: str | None = None, oracle: bool = False, without: str | None = None,
           check_facts: bool = False, compile_threads: int | None = None) -> None:
    """Enable the JIT for the whole process.

    - `threshold`: the number of interpreted calls of a function (or iterations of a loop) before it
      is compiled; 0 compiles before the first execution, None is the default.
    - `force_exit` makes guards fail on purpose, for tests: "none" (only record which are executed),
      "count" (only count executions), "first", "seed:N" or "one-by-one:K".
    - `oracle`, also for tests, runs code that is compiled from now on in the LIR interpreter
      instead of as machine code.
    - `without` disables passes of the compiler, to measure the effect of each: names separated by
      commas.
    - `check_facts`, for tests, makes a check of each fact about memory that code could rely on: if
      one is false, the process ends with a message.
    - `compile_threads`: the number of threads that generate machine code while the program
      continues interpreted; with 0 the thread that requests the code generates it, and the program
      waits.
    """
    options = check_threshold(threshold), check_force_exit(force_exit), check_switch(oracle, "oracle"), check_without(without)
    _native.load().enable(*options, check_switch(check_facts, "check_facts"),
                          check_compile_threads(compile_threads), cache_folder())


def disable() -> None:
    """Disable the JIT and undo every function entry that it has replaced."""
    _native.load().disable()


def compile(f: Callable[..., Any]) -> None:
    """Compile `f` now. Raises `NotCompiled` with the reason if that can't be done."""
    _native.load().compile(_function(f, "f"))


def is_compiled(f: Callable[..., Any]) -> bool:
    """True if a call of `f` enters machine code."""
    return _native.load().is_compiled(_function(f, "f"))


def why_not(f: Callable[..., Any]) -> str | None:
    """The reason why `f` is not compiled; None if it is, or if there is no reason against it
    yet."""
    return _native.load().why_not(_function(f, "f"))


def stats() -> dict[str, Any]:
    """The JIT's statistics for this process so far: units, entries, exits, refusals, coverage."""
    return _native.load().stats()


def report(path: str | os.PathLike[str], samples: bool = True) -> Report:
    """Record from now on, and write a page about it: the distribution of time, the functions that
    became machine code, and the reasons why others did not.

    With `with cladonia.report("out.html"): ...` the page covers the block; otherwise it covers the
    process until it exits, or until `.write()`. There is one recording at a time: another one ends
    the first. `samples=False` records no times, and does not use the signal SIGPROF, which a
    program may need itself.
    """
    from cladonia._report import Report

    return Report(path, samples)


def explain(f: Callable[..., Any]) -> None:
    """Print the report's section on one function: is it machine code, how each line runs, why it
    exited, and advice."""
    from cladonia._report import _explain

    print(_explain.text(_native.load(), _function(f, "f")))


def functions() -> list[FunctionRecord]:
    """A record of each function that was counted or compiled: see `FunctionRecord` in
    `_cladonia.pyi` for the keys."""
    return _native.load().functions()


def live() -> LiveCounters:
    """Counters that are cheap to read repeatedly: see `LiveCounters` in `_cladonia.pyi`."""
    return _native.load().live()


def serve() -> None:
    """Let `python -m cladonia top` inspect this process from now on, and its forked children."""
    from cladonia import _top

    _top.serve()


def metrics() -> str:
    """The counters as OpenMetrics text, for a monitoring system to fetch."""
    from cladonia import _metrics

    return _metrics.text(_native.load())


def dump(f: Callable[..., Any], stage: str) -> str:
    """The text of `f` at one stage of compilation, one of `STAGES`. Raises `NotCompiled` if `f`
    does not get that far."""
    return _native.load().dump(_function(f, "f"), check_stage(stage))


def plan(f: Callable[..., Any]) -> str:
    """The compilation plan of each attribute access and name of `f`, given the profile so far: the
    attributes used of each value, candidate types with their checks and steps, watched objects.
    Raises `NotCompiled` if `f` can't be compiled."""
    from cladonia import _plan

    native, f = _native.load(), _function(f, "f")
    texts = native.inspect(f)
    if "error" in texts:
        raise native.NotCompiled(texts["error"])
    return _plan.report(texts, f.__qualname__)


def annotate(f: Callable[..., Any], *types: Type | type | str) -> str:
    """The annotation engine's results for `f` and the functions of its module that it calls, for
    arguments of these types, without running them: the variables' bindings, then the possible
    values of each, with the source of each fact.

    A type is one of `cladonia.Type`, its text, or a class, which represents its direct instances.
    Arguments that are not given are unknown. Raises `NotCompiled` if `f` has code that is not
    compiled, or a type can't be parsed.
    """
    classes = tuple(given for given in types if isinstance(given, type))
    return _native.load().annotate(_function(f, "f"), "\n".join(map(_type_text, types)), classes)


def _type_text(given):
    if isinstance(given, type):
        given = __getattr__("Type").of_class(given, True)
    return str(given)


if TYPE_CHECKING:
    @overload
    def jit(f: F, /) -> F: ...
    @overload
    def jit(*, strict: bool = False) -> Callable[[F], F]: ...


def jit(f=None, /, *, strict=False):
    """Decorator: compile this function now, rather than when it becomes hot.

    The function itself is returned, not a wrapper. A function that can't be compiled stays
    interpreted, and `why_not` returns the reason; `@jit(strict=True)` raises `NotCompiled`
    instead. If the function is slower as machine code, a `JitWarning` reports it
    once, with the reason.
    """
    if type(strict) is not bool:
        raise TypeError(f"strict must be True or False, not {type(strict).__name__}")
    if f is None:
        return lambda f: _compile_decorated(f, strict)
    return _compile_decorated(f, strict)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext cladonia`: the magic `%%cladonia`, which runs a cell and prints its times with
    the JIT and without."""
    from cladonia import _magic

    _magic.load(shell)


def _compile_decorated(f, strict):
    native = _native.load()
    function = _function(f, "f")
    try:
        native.compile(function)
    except native.NotCompiled:
        if strict:
            raise
    else:
        native.advise(function)
    return f


def _function(f, name):
    """The Python function behind `f`: itself, or the one that a method or static method wraps."""
    kind = type(f)
    if kind is _FunctionType:
        return f
    inner = getattr(f, "__func__", None)
    if type(inner) is _FunctionType:
        return inner
    raise TypeError(f"{name} must be a Python function, not {kind.__name__}")


_FunctionType = type(_function)


def __getattr__(name):
    # These classes belong to the native module, so they are looked up on first use, not at import.
    if name == "NotCompiled":
        globals()[name] = found = _native.load().NotCompiled
        return found
    if name == "JitWarning":
        from cladonia._warn import JitWarning

        globals()[name] = JitWarning
        return JitWarning
    if name == "Type":
        globals()[name] = found = _native.type_class()
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
