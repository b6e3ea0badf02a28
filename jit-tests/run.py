"""Runs every program interpreted and compiled, and compares the outputs.

    python jit-tests/run.py [-k WORD] [--jobs N] [--modes threshold30,threshold0,...] [--require-jit] [--stacks DIR]

The programs are those of lang/, programs/ and endings/. A program agrees when stdout, stderr
(tracebacks with their lines and columns) and exit code are the interpreter's, byte for byte. With
--stacks, the programs of stacks/ are run, whose libraries switch the C stack: greenlet, gevent and
eventlet, which DIR contains. A program that depends on thread timing is run more often: a line `#
repeat: N` gives the number of runs in each mode. A line `# ends while threads run` means that units
may be in use at the end, a line `# not in mode M: why` that the output depends on behaviour that M
leaves open.
"""

from __future__ import annotations

import argparse
import collections
import difflib
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness

HERE = Path(__file__).resolve().parent
SMALL = "lang"
FOLDERS = (SMALL, "programs", "endings")
STACKS = ("stacks",)

#: The options of `python -m cladonia` in each mode.
MODES = {
    "default": [],
    "threshold30": ["--threshold", "30", "--compile-threads", "0"],
    # Workers generate the code: ready before the program's next request, or a little late.
    "beside": ["--threshold", "30", "--compile-threads", "1"],
    "late": ["--threshold", "10", "--compile-threads", "2"],
    "threshold0": ["--threshold", "0"],
    "first": ["--threshold", "0", "--force-exit=first"],
    "seed": ["--threshold", "0", "--force-exit=seed:{seed}"],
    "threshold30-first": ["--threshold", "30", "--force-exit=first"],
    "oracle": ["--threshold", "0", "--oracle"],
    "check-facts": ["--threshold", "0", "--check-facts"],
    "oracle-first": ["--threshold", "0", "--oracle", "--force-exit=first"],
    "one-by-one": ["--threshold", "0", "--force-exit=one-by-one:{guard}"],
}
#: Further environment variables of a mode: references are audited, and the code is verified after
#: each pass.
ENVIRONMENTS = {**{mode: harness.AUDIT for mode in ("threshold30", "threshold0")}, "beside": {**harness.AUDIT, "CLADONIA_DELAY": "next"}, "late": {"CLADONIA_DELAY": "500"}}
USUAL = ("threshold30", "threshold0", "first", "seed", "threshold30-first", "one-by-one")


class Program:
    def __init__(self, path):
        self.path = path
        self.small = path.parent.name == SMALL
        self.name = f"{path.parent.name}/{path.stem}"
        self.cells: dict[str, str] = {}
        self.problems: list[str] = []
        self.base = None
        text = path.read_text()
        repeat = re.search(r"^# repeat: (\d+)$", text, re.MULTILINE)
        self.repeat = int(repeat[1]) if repeat else 1
        self.without = re.findall(r"^# not in mode (\w+):", text, re.MULTILINE)
        # The same holds while other stacks are suspended in units.
        self.threads_run = "\n# ends while threads run\n" in text or path.parent.name in STACKS


def main():
    options = arguments()
    python = harness.find_python(options.python)
    reason = harness.unavailable(python)
    if reason and options.require_jit:
        sys.exit(f"the JIT can't work in {python}: {reason}")
    if reason:
        print(f"note: the JIT can't work in {python}: {reason}")
    folders = STACKS if options.stacks else FOLDERS
    programs = [Program(path) for folder in folders for path in sorted((HERE / folder).glob("*.py"))]
    for program in programs:
        program.repeat *= options.repeat
    programs = [p for p in programs if any(word in p.name for word in options.k)] if options.k else programs
    coverage = {mode: harness.Coverage() for mode in options.modes}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        runner = Runner(python, options, Path(folder), coverage)
        print(f"{'program':34}{'interp':>8}" + "".join(f"{mode:>15}" for mode in options.modes))
        for program in pool.map(runner.program, programs):
            print(f"{program.name:34}{program.cells['interp']:>8}"
                  + "".join(f"{program.cells.get(mode, '-'):>15}" for mode in options.modes), flush=True)
            for problem in program.problems:
                print(problem)
    for mode, covered in coverage.items():
        if covered.processes:
            print(f"\n[{mode}] " + "\n".join(covered.lines()))
    if "one-by-one" in options.modes:
        counts = runner.alone
        print(f"\n[one-by-one] guards of the programs' own code: {counts['guards']}, {counts['reached']} of them ever executed; "
              f"{counts['run']} runs, in {counts['taken']} of them the one guard was taken")
    failed = [p for p in programs if p.problems]
    if failed:
        print("\nfailed: " + " ".join(p.name for p in failed))
    print(f"\n{len(programs) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed or not programs else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-k", action="append", metavar="WORD", help="only programs with WORD in their name")
    parser.add_argument("--python", help="the interpreter to test (default: .venv, $PYTHON, python3.13)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds for one run of one program")
    parser.add_argument("--modes", default=",".join(USUAL), help=f"of {', '.join(MODES)}")
    parser.add_argument("--seeds", default="1", help="seeds of the mode `seed`, with commas")
    parser.add_argument("--one-by-one-limit", type=int, default=12, metavar="N",
                        help="at most N guards a program, evenly spread; 0 for every guard")
    parser.add_argument("--diff-lines", type=int, default=30)
    parser.add_argument("--stacks", metavar="DIR", help="run the programs of stacks/ instead, with the libraries in DIR")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each program N times as often")
    parser.add_argument("--require-jit", action="store_true", help="fail where the JIT can't work")
    options = parser.parse_args()
    options.modes = [mode for mode in options.modes.split(",") if mode]
    for mode in options.modes:
        if mode not in MODES:
            parser.error(f"--modes: {mode!r} is none of {', '.join(MODES)}")
    return options


class Runner:
    def __init__(self, python, options, folder, coverage):
        self.python = python
        self.options = options
        self.folder = folder
        self.coverage = coverage
        self.alone = collections.Counter()
        self.env = harness.environment(python)
        if options.stacks:
            paths = [self.env.get("PYTHONPATH"), str(Path(options.stacks).resolve())]
            self.env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))

    def program(self, program):
        program.base = base = harness.run(
            [self.python, program.path], env={**self.env, "CLADONIA_OFF": "1"}, timeout=self.options.timeout, cwd=HERE)
        program.cells["interp"] = f"{base.seconds:.2f}s"
        if base.code is None or base.crash:
            program.problems.append(f"  {program.name} interpreted: {base.how()}")
            return program
        for mode in self.options.modes:
            if mode not in program.without:
                self.mode(program, mode)
        return program

    def mode(self, program, mode):
        if mode == "seed":
            choices = [{"seed": seed} for seed in self.options.seeds.split(",")]
        elif mode == "one-by-one":
            choices = [{"guard": k} for k in self.guards(program)] if program.small else []
        else:
            choices = [{}]
        seconds = 0.0
        failures = 0
        for choice in choices * program.repeat:
            words = [word.format(**choice) for word in MODES[mode]]
            ended = self.child(program, words, ENVIRONMENTS.get(mode, {}), own=mode == "one-by-one")
            if mode == "one-by-one":
                self.alone["run"] += 1
                self.alone["taken"] += ended.stats.get("forced_exits", {}).get("taken", 0)
            else:
                self.coverage[mode].add(ended.stats)
            seconds += ended.seconds
            trouble = self.difference(program, ended) or self.faults(program, ended)
            if trouble:
                failures += 1
                # For a repeated program, one failure is enough.
                if failures == 1 or program.repeat == 1:
                    program.problems.append(f"  {program.name} {' '.join(words) or mode}: {trouble}")
        if choices:
            differs = "DIFFERS" if program.repeat == 1 else f"DIFFERS {failures}/{len(choices) * program.repeat}"
            program.cells[mode] = differs if failures else f"{seconds:.2f}s"

    def child(self, program, words, also, own=False):
        """One run; with `own`, only the program's own code is compiled: its file, and strings that
        it executes."""
        stats = Path(tempfile.mkdtemp(dir=self.folder)) / "stats.json"
        command = [self.python, "-m", "cladonia", "--stats", stats, *words, program.path]
        env = {**self.env, **also}
        if own:
            env["CLADONIA_UNITS"] = f"{program.path.name}:,<string>:"
        return harness.run(command, env=env, timeout=self.options.timeout, cwd=HERE, stats=stats)

    def guards(self, program):
        """The numbers of the guards that fail one by one: all that are ever executed, or evenly
        spread ones of these."""
        ended = self.child(program, ["--threshold", "0", "--force-exit=none"], {}, own=True)
        self.alone["guards"] += ended.stats["forced_exits"]["guards"]
        reached = ended.stats["forced_exits"]["reached"]
        self.alone["reached"] += len(reached)
        limit = self.options.one_by_one_limit
        if not limit or len(reached) <= limit:
            return reached
        return [reached[i * len(reached) // limit] for i in range(limit)]

    def difference(self, program, ended):
        base = program.base
        if ended.code is None or ended.crash:
            return ended.how() + self.tail(ended.stderr)
        parts = []
        if ended.code != base.code:
            parts.append(f"exit code {ended.code}, interpreted {base.code}")
        for name in ("stdout", "stderr"):
            ours, theirs = getattr(ended, name), getattr(base, name)
            if ours != theirs:
                lines = difflib.unified_diff(
                    theirs.decode(errors="replace").splitlines(), ours.decode(errors="replace").splitlines(),
                    f"{name} interpreted", f"{name} compiled", lineterm="", n=1)
                shown = list(lines)
                rest = len(shown) - self.options.diff_lines
                parts.append("\n    ".join(["differs:", *(line[:300] for line in shown[:self.options.diff_lines])]
                                           + ([f"... {rest} lines more"] if rest > 0 else [])))
        return "; ".join(parts)

    def faults(self, program, ended):
        found = harness.faults(ended.stats)
        if not program.threads_run:
            found += harness.unfinished(ended.stats)
        return "".join(f"\n    {reason[:1000]}" for reason in found)

    def tail(self, stderr):
        lines = stderr.decode(errors="replace").splitlines()[-self.options.diff_lines:]
        return "".join(f"\n    {line[:300]}" for line in lines)


if __name__ == "__main__":
    main()
