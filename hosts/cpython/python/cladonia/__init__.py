"""Cladonia: a just-in-time compiler that lives inside a stock CPython.

    python -m cladonia script.py        runs a program with the JIT on
    import cladonia; cladonia.enable()  turns it on from inside a program

Nothing here is needed for a program to be right: on a Python that Cladonia can't work in, everything runs interpreted and
`available()` says why. Importing this package is cheap; the native module is loaded by the first call that needs it.

`cladonia.Type` is what the compiler knows of values, sets of them with their algebra; it works without the JIT, too.

pytest finds a plugin here, and this package imported before it where the JIT is on from the start: PYTEST_DONT_REWRITE its assertions.
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
    """None where the JIT can work; otherwise one line that says why it can't."""
    return _native.load().available()


def enable(threshold: int | None = None, force_exit: str | None = None, oracle: bool = False, without: str | None = None,
           check_facts: bool = False, compile_threads: int | None = None) -> None:
    """Turn the JIT on for the whole process.

    `threshold` is how often a function or loop runs interpreted before it is compiled; 0 compiles before the first execution,
    None is the default. `force_exit` makes guards fail on purpose, for tests: "none" (only note which
    are executed), "count" (only count executions), "first", "seed:N" or "one-by-one:K".
    `oracle`, for tests too, runs what is compiled from now on in the LIR interpreter in place of machine code.
    `without` leaves out passes of the compiler, to see what each brings: names separated by commas.
    `check_facts`, for tests, makes a check of each fact about memory that code could rely on: where one is false, the
    process ends with a message.
    `compile_threads` is how many threads generate machine code while the program goes on interpreted; 0 generates it where
    it is asked for, and the program waits.
    """
    options = check_threshold(threshold), check_force_exit(force_exit), check_switch(oracle, "oracle"), check_without(without)
    _native.load().enable(*options, check_switch(check_facts, "check_facts"),
                          check_compile_threads(compile_threads), cache_folder())


def disable() -> None:
    """Turn the JIT off and undo every entry it has put into a function."""
    _native.load().disable()


def compile(f: Callable[..., Any]) -> None:
    """Compile `f` now. Raises `NotCompiled` with the reason if that can't be done."""
    _native.load().compile(_function(f, "f"))


def is_compiled(f: Callable[..., Any]) -> bool:
    """Whether a call of `f` enters machine code."""
    return _native.load().is_compiled(_function(f, "f"))


def why_not(f: Callable[..., Any]) -> str | None:
    """Why `f` is not compiled; None if it is, or if nothing has been held against it yet."""
    return _native.load().why_not(_function(f, "f"))


def stats() -> dict[str, Any]:
    """What the JIT has done so far in this process: units, entries, exits, refusals, coverage."""
    return _native.load().stats()


def report(path: str | os.PathLike[str], samples: bool = True) -> Report:
    """Record from now on, and write a page about it: where time went, what became machine code and what did not, and why.

    With `with cladonia.report("out.html"): ...` the page is of the block; otherwise it is of what the process does until its end,
    or until `.write()`. One recording goes on at a time: another one ends the first. `samples=False` leaves out time, and with it the signal
    SIGPROF, which a program may need itself.
    """
    from cladonia._report import Report

    return Report(path, samples)


def explain(f: Callable[..., Any]) -> None:
    """Print what the page says of one function: whether it is machine code, how each line runs, what it was left for, and what would help."""
    from cladonia._report import _explain

    print(_explain.text(_native.load(), _function(f, "f")))


def functions() -> list[FunctionRecord]:
    """What is known of each function that was counted or compiled: see `FunctionRecord` in `_cladonia.pyi` for the keys."""
    return _native.load().functions()


def live() -> LiveCounters:
    """Counters that are cheap to read again and again: see `LiveCounters` in `_cladonia.pyi`."""
    return _native.load().live()


def serve() -> None:
    """Let `python -m cladonia top` look into this process from now on, and into those that it forks."""
    from cladonia import _top

    _top.serve()


def metrics() -> str:
    """The counters as OpenMetrics text, for a monitoring system to fetch."""
    from cladonia import _metrics

    return _metrics.text(_native.load())


def dump(f: Callable[..., Any], stage: str) -> str:
    """The text of `f` at one stage of compilation, one of `STAGES`. Raises `NotCompiled` if `f` does not get that far."""
    return _native.load().dump(_function(f, "f"), check_stage(stage))


def plan(f: Callable[..., Any]) -> str:
    """How each attribute access and name of `f` is compiled with what has been observed so far: what is used of its values, candidate
    types with the checks and steps of each, what is watched. Raises `NotCompiled` if `f` can't be compiled."""
    from cladonia import _plan

    native, f = _native.load(), _function(f, "f")
    texts = native.inspect(f)
    if "error" in texts:
        raise native.NotCompiled(texts["error"])
    return _plan.report(texts, f.__qualname__)


def annotate(f: Callable[..., Any], *types: Type | type | str) -> str:
    """What `f` and the functions of its module that it calls make of arguments of these types, as the compiler's annotation
    engine finds it without running them: the variables' bindings, then what each may hold, with the source of each fact.

    A type is one of `cladonia.Type`, its text, or a class, which stands for its own instances. Of arguments that are not
    given nothing is known. Raises `NotCompiled` if `f` has something that is not compiled, or a type can't be read.
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
    """Decorator: compile this function now, rather than when it turns out to be hot.

    The function itself comes back, not a wrapper. What can't be compiled stays interpreted and `why_not` tells the reason;
    `@jit(strict=True)` raises `NotCompiled` instead. If the function turns out to be slower as machine code, a `JitWarning` says so
    once, with the reason.
    """
    if type(strict) is not bool:
        raise TypeError(f"strict must be True or False, not {type(strict).__name__}")
    if f is None:
        return lambda f: _compile_decorated(f, strict)
    return _compile_decorated(f, strict)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext cladonia`: the magic `%%cladonia`, which runs a cell and shows what it takes with the JIT and without."""
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
    """The Python function behind `f`: itself, or what a method or static method wraps."""
    kind = type(f)
    if kind is _FunctionType:
        return f
    inner = getattr(f, "__func__", None)
    if type(inner) is _FunctionType:
        return inner
    raise TypeError(f"{name} must be a Python function, not {kind.__name__}")


_FunctionType = type(_function)


def __getattr__(name):
    # These classes are the native module's own, so they are looked up when first named and not at import.
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
