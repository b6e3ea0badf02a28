"""`python -m cladonia export script.py`: writes a program as typed bytecode, with the interpreter's
feedback as hints, and the inputs of the compile of each function: `cladonia hir FILE.tbc` and so on
print the same stages without Python."""

from __future__ import annotations

import argparse
import os
import sys


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m cladonia export", description=__doc__)
    parser.add_argument("script")
    parser.add_argument("args", nargs="*", metavar="ARG", help="an argument of the script; after -- if it begins with a dash")
    parser.add_argument("-o", "--output", help="the document; by default the script's name with .tbc, - for standard output")
    parser.add_argument(
        "--no-run", action="store_true", help="don't run the script first: there are no hints and no units then")
    parser.add_argument(
        "--bytecode", action="store_true", help="typed bytecode with its hints only: a program for any host")
    parser.add_argument(
        "--jit", nargs="?", type=int, const=100, metavar="THRESHOLD",
        help="run the script with the JIT on, and write the units as they were compiled then, loops too")
    args = parser.parse_intermixed_args(argv)
    if args.jit is not None and (args.no_run or args.bytecode or args.jit < 0):
        parser.error("--jit needs a script that is run and a threshold from 0, and writes units")
    try:
        with open(args.script, encoding="utf-8") as file:
            code = compile(file.read(), args.script, "exec")
    except OSError as error:
        parser.error(f"can't open {args.script!r}: {error.strerror}")
    from cladonia import _cladonia

    if args.jit is not None:
        _cladonia.record()
        _cladonia.enable(args.jit, None, False, None, False, 0, None)
    module, raised = (None, False) if args.no_run else _run(code, args.script, args.args)
    if args.jit is not None:
        found = _cladonia.recorded()
        _cladonia.disable()
    elif module is not None and not args.bytecode:
        found = units(code)
    else:
        found = ""
    text = _cladonia.export(code) + found
    output = args.output or os.path.splitext(args.script)[0] + ".tbc"
    if output == "-":
        sys.stdout.write(text)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    # The document is written in both cases: the code before the exception may be of interest.
    return 1 if raised else 0


def units(code):
    """The host, and the units of all live functions of the code objects inside `code`, as sections
    of a document.

    One function represents all functions of its code. If one is not compiled, the reason is
    written as a comment, and its unit, which fails in the same way.
    """
    from cladonia import _cladonia

    from cladonia._progress import Progress

    host, found = "", []
    functions = _functions(code)
    progress = Progress("cladonia: export")
    for number, function in enumerate(functions):
        progress.step(number, len(functions), function.__qualname__)
        texts = _cladonia.inspect(function)
        host = texts["host"]
        if "error" in texts:
            reason = " ".join(texts["error"].split())
            found.append(f"; {function.__qualname__}: {reason}\n")
        if "unit" in texts:
            found.append(texts["unit"])
    progress.end()
    return "".join(f"\n{text}" for text in [host, *found] if text)


def _functions(code):
    import gc
    import types

    wanted = {}
    work = [code]
    while work:
        inner = [const for const in work.pop().co_consts if isinstance(const, types.CodeType)]
        wanted.update((id(const), const) for const in inner)
        work += inner
    found = {}
    for candidate in gc.get_objects():
        if type(candidate) is types.FunctionType and id(candidate.__code__) in wanted:
            found.setdefault(id(candidate.__code__), candidate)
    return sorted(found.values(), key=lambda function: (function.__code__.co_firstlineno, function.__qualname__))


def _run(code, script, args):
    """Run the program as the main module, interpreted, so that its code objects have feedback.

    Returns the module, and True if the program has raised.
    """
    import types

    module = types.ModuleType("__main__")
    module.__file__ = script
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    out, sys.stdout = sys.stdout, sys.stderr
    argv, sys.argv = sys.argv, [script, *args]
    path = sys.path[:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    raised = False
    try:
        exec(code, module.__dict__)
    except SystemExit:
        pass
    except Exception as error:
        import traceback

        raised = True
        traceback.print_exception(type(error), error, error.__traceback__.tb_next)
    finally:
        sys.stdout, sys.modules["__main__"], sys.argv = out, before, argv
        sys.path[:] = path
    return module, raised
