"""Finds references that compiled code never drops, or drops twice, in lang/ and programs/.

    python jit-tests/leaks.py [-k WORD] [--runs N] [--jobs N] [--plant]

A program runs several times in one process, interpreted, and in another one compiled before the
first execution. After each run the garbage is collected, and three figures are taken: blocks of
memory, objects by class, and references to each object that outlives a run (constants of the
program's code, builtins, types). The growth per run, once it has settled, must be the same
interpreted and compiled. --plant adds a reference to an object in each compiled run, to prove that
it is found.
"""

from __future__ import annotations

import argparse
import collections
import json
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness

HERE = Path(__file__).resolve().parent
#: Runs whose growth counts: earlier ones fill caches and are compiled.
SETTLED = 6
#: The factor by which the number of runs grows if the first ones show a difference.
MANY_MORE = 4
#: Blocks by which the growth of a run may differ: the interpreter's own caches come and go.
MOST_BLOCKS = 24


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-k", action="append", metavar="WORD", help="only programs with WORD in their name")
    parser.add_argument("--python", help="the interpreter to test (default: .venv, $PYTHON, python3.13)")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for all runs of one program")
    parser.add_argument("--plant", action="store_true", help="lose a reference on the compiled side, to see that it is found")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runs <= SETTLED:
        parser.error(f"--runs: at least {SETTLED + 1}")
    if options.worker:
        return worker(*options.worker, options.runs, options.plant)
    python = harness.find_python(options.python)
    reason = harness.unavailable(python)
    if reason:
        sys.exit(f"the JIT can't work in {python}: {reason}")
    programs = [path for folder in ("lang", "programs") for path in sorted((HERE / folder).glob("*.py"))]
    programs = [path for path in programs if any(word in f"{path.parent.name}/{path.stem}" for word in options.k or [""])]
    failed = left_out = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        for path, trouble in zip(programs, pool.map(lambda path: compare(python, path, options, Path(folder)), programs)):
            failed += bool(trouble) and not trouble.startswith("left out")
            left_out += trouble.startswith("left out")
            print(f"{path.parent.name}/{path.stem:30} {trouble or 'balanced'}", flush=True)
    print(f"\n{len(programs) - failed - left_out} balanced, {failed} not, {left_out} left out")
    sys.exit(1 if failed or not programs else 0)


def compare(python, path, options, folder):
    """The difference; empty if all is balanced. Each of the first namespaces that code runs in may
    keep something alive, so the difference must persist after many more runs."""
    for runs in (options.runs, MANY_MORE * options.runs):
        trouble = compare_once(python, path, options, folder, runs)
        if not trouble or trouble.startswith("left out"):
            break
    return trouble


def compare_once(python, path, options, folder, runs):
    grown = []
    for way, words in (("interpreted", []), ("compiled", ["-m", "cladonia", "--threshold", "0"])):
        answer = folder / f"{path.parent.name}.{path.stem}.{way}"
        plant = ["--plant"] if options.plant and words else []
        ended = harness.run(
            [python, *words, Path(__file__), "--worker", path, answer, "--runs", runs, *plant],
            env=harness.environment(python), timeout=options.timeout, cwd=HERE)
        if not answer.is_file():
            return f"left out: {way}, {ended.how()}" if way == "interpreted" or ended.code is None else f"compiled: {ended.how()}"
        grown.append(Growth(**json.loads(answer.read_text())))
    return "; ".join(difference(*grown))


class Growth:
    """The growth of each of the settled runs."""

    def __init__(self, blocks, objects, references):
        self.blocks, self.objects, self.references = blocks, objects, references

    def typical(self, table):
        """The median growth of the runs, by name: growth in single runs is no leak."""
        names = {name for run in table for name in run}
        found = {name: statistics.median_low([run.get(name, 0) for run in table]) for name in names}
        return {name: count for name, count in found.items() if count}


def difference(interpreted, compiled):
    blocks = [statistics.median_low(growth.blocks) for growth in (interpreted, compiled)]
    if abs(blocks[1] - blocks[0]) > MOST_BLOCKS:
        yield f"{blocks[1]} blocks a run, interpreted {blocks[0]}"
    for what in ("objects", "references"):
        theirs, ours = (growth.typical(getattr(growth, what)) for growth in (interpreted, compiled))
        for name in sorted(theirs.keys() | ours.keys()):
            if theirs.get(name, 0) != ours.get(name, 0):
                kind = "objects of" if what == "objects" else "references to"
                yield f"{ours.get(name, 0)} {kind} {name} a run, interpreted {theirs.get(name, 0)}"


def worker(script, answer, runs, plant):
    """Run the program so many times, and write the growth of each of the settled runs."""
    import gc
    import io
    import types

    sys.path.insert(0, str(Path(script).parent))
    code = compile(Path(script).read_text(), script, "exec")
    lost = object()

    def once():
        module = types.ModuleType("__main__")
        module.__file__ = script
        saved = sys.modules["__main__"], sys.stdout, sys.stderr, sys.argv
        sys.modules["__main__"], sys.argv = module, [script]
        sys.stdout = sys.stderr = io.StringIO()
        try:
            exec(code, module.__dict__)
        except BaseException:
            pass  # The end of a program is compared elsewhere.
        finally:
            sys.modules["__main__"], sys.stdout, sys.stderr, sys.argv = saved
        module.__dict__.clear()
        if plant:
            planted(lost)

    lasting = list(outliving(code)) + [(lost, "the planted object")]

    def count():
        for _ in range(3):
            gc.collect()
        references = [sys.getrefcount(thing) for thing, _ in lasting]
        objects = collections.Counter(f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in gc.get_objects())
        return sys.getallocatedblocks(), objects, references

    blocks, objects, references = [], [], []
    before = count()
    # The same objects are examined after each run. This code is compiled too, and its first
    # execution changes what other units rely on.
    for _ in range(runs):
        once()
        after = count()
        blocks.append(after[0] - before[0])
        objects.append({name: n for name in after[1] | before[1] if (n := after[1][name] - before[1][name])})
        changed = collections.Counter()
        for (_, name), new, old in zip(lasting, after[2], before[2]):
            changed[name] += new - old
        references.append({name: n for name, n in changed.items() if n})
        before = after
    grown = {"blocks": blocks, "objects": objects, "references": references}
    Path(answer).write_text(json.dumps({what: table[-SETTLED:] for what, table in grown.items()}))


def planted(thing):
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def outliving(code):
    """Objects that exist both before and after a run, with their names."""
    import builtins

    for name, value in vars(builtins).items():
        yield value, f"builtins.{name}"
    work = [code]
    while work:
        thing = work.pop()
        parts = thing.co_consts + thing.co_names if hasattr(thing, "co_consts") else thing if isinstance(thing, tuple) else ()
        yield thing, f"constant {type(thing).__name__}"
        work.extend(parts)


if __name__ == "__main__":
    main()
