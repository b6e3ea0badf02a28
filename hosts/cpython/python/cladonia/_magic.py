"""`%%cladonia` for IPython and Jupyter: `%load_ext cladonia`, then a cell that begins with the
magic.

The cell runs once in the notebook, with the JIT on. Its time without the JIT is measured in a
forked child, so that the cell's side effects happen once.
"""

from __future__ import annotations

import os
import sys
import time

import cladonia


def cladonia_cell(line, cell, shell):
    """Run a cell, and print its time with the JIT and without."""
    words = line.split()
    if words not in ([], ["-q"]):
        raise ValueError("usage: %%cladonia [-q]: -q omits the reasons why functions of the cell stay interpreted")
    code = compile(shell.transform_cell(cell), "<cladonia cell>", "exec")
    without = _without(code, shell.user_ns)
    # The JIT's state is restored after the cell.
    was_on = cladonia.live()["on"]
    if not was_on:
        cladonia.enable()
    started = time.perf_counter()
    try:
        exec(code, shell.user_ns)
    finally:
        took = time.perf_counter() - started
        if not was_on:
            cladonia.disable()
    reason = cladonia.available()
    if reason is not None:
        print(f"cladonia: everything ran in the interpreter: {reason}", file=sys.stderr)
    elif without is None:
        print(f"cladonia: {took:.3f} s with the JIT; the time without it could not be measured: there is no fork, or the cell raised in the child",
              file=sys.stderr)
    else:
        print(f"cladonia: {took:.3f} s with the JIT (compiling included), {without:.3f} s without: {without / took:.2f}x", file=sys.stderr)
        if not words:
            for name in dict.fromkeys(code.co_names):
                value = shell.user_ns.get(name)
                if isinstance(value, type(_without)) and (why := cladonia.why_not(value)):
                    print(f"cladonia: {name} stays interpreted: {why}", file=sys.stderr)


def _without(code, namespace):
    """Seconds that the code takes interpreted, in a child; None if that cannot be measured."""
    if not hasattr(os, "fork"):
        return None
    import warnings

    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # A notebook has threads of its own; the child runs only the cell.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        answer = b""
        try:
            cladonia.disable()
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            sys.stdout = sys.stderr = open(os.devnull, "w")
            started = time.perf_counter()
            exec(code, dict(namespace))
            answer = repr(time.perf_counter() - started).encode()
        except BaseException:
            answer = b""
        finally:
            os.write(writing, answer or b"-")
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answers:
        text = answers.read().decode()
    os.waitpid(child, 0)
    return float(text) if text not in ("", "-") else None


def load(shell):
    """Register the magic."""
    shell.register_magic_function(lambda line, cell: cladonia_cell(line, cell, shell), "cell", "cladonia")
