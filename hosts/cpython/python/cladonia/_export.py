"""`python -m cladonia export script.py`: a program as typed bytecode, with what the interpreter has observed as hints."""

from __future__ import annotations

import argparse
import os
import sys


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m cladonia export", description=__doc__)
    parser.add_argument("script")
    parser.add_argument("-o", "--output", help="the document; by default the script's name with .tbc, - for standard output")
    parser.add_argument("--no-run", action="store_true", help="don't run the script first: there are no hints then")
    args = parser.parse_args(argv)
    with open(args.script, encoding="utf-8") as file:
        code = compile(file.read(), args.script, "exec")
    if not args.no_run:
        _run(code, args.script)
    from cladonia import _cladonia

    text = _cladonia.export(code)
    output = args.output or os.path.splitext(args.script)[0] + ".tbc"
    if output == "-":
        sys.stdout.write(text)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)


def _run(code, script):
    """Run the program as the main module, interpreted, so that its code objects have seen their values."""
    import types

    module = types.ModuleType("__main__")
    module.__file__ = script
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        exec(code, module.__dict__)
    except SystemExit:
        pass
    finally:
        sys.stdout, sys.modules["__main__"] = out, before
