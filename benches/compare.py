"""Compares the JIT with its own interpreter: alternating fresh processes, ratios of medians.

    python benches/compare.py [--python P]... [--program NAME]... [--rounds N] [--json FILE] [--callgrind]

The first Python is measured with the JIT off (the base) and on; each further one is measured as it
is, for reference.
Ratios above 1 mean faster than the base.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jit-tests"))
import counting
import harness

NOT_SLOWER_BY_INSTRUCTIONS = 0.97


class Arm:
    """One configuration: an interpreter, with or without the JIT."""

    def __init__(self, name, python, jit, threshold=None):
        self.name = name
        self.python = python
        self.jit = jit
        self.words = ["-m", "cladonia"] if jit else []
        if jit and threshold is not None:
            self.words += ["--threshold", str(threshold)]

    def command(self, stats, child):
        return [self.python, *self.words, *(["--stats", stats] if self.jit else []), HERE / "child.py", *child]

    def env(self):
        return harness.environment(self.python, **({} if self.jit else {"CLADONIA_OFF": "1"}))


def main():
    options = arguments()
    with open(HERE / "programs.toml", "rb") as file:
        table = tomllib.load(file)["program"]
    chosen = choose(table, options)
    pythons = [harness.find_python(p) for p in options.python] or [harness.find_python()]
    base = Arm("off", pythons[0], jit=False)
    ours = Arm("jit", pythons[0], jit=True, threshold=options.threshold)
    others = [Arm(f"python {i + 2}", python, jit=False) for i, python in enumerate(pythons[1:])]
    arms = [base, ours, *others]
    reason = harness.unavailable(pythons[0])
    if reason:
        print(f"note: the JIT can't work here, so this compares the interpreter with itself: {reason}")
        if options.require_jit:
            sys.exit(1)
    builds = {arm.name: build(arm.python) for arm in arms if not arm.jit}
    print(f"base: {builds['off']}")
    for arm in others:
        print(f"{arm.name}: {builds[arm.name]}")
    counter = Instructions(options.callgrind)
    print(f"instructions: {counter.how}; {options.rounds} rounds, alternating fresh processes\n")
    print(f"{'program':24}{'off s':>8}{'steady':>9}{'cold':>8}{'instr':>8}{'bar':>7}  {'':6}{'noise':>6}"
          + "".join(f"{arm.name:>10}" for arm in others))
    rows, coverage = [], harness.Coverage()
    for name in chosen:
        row = measure(name, table[name], arms, options, counter, coverage)
        rows.append(row)
        print(shown(row, others), flush=True)
    summary = summarise(rows, options)
    print()
    for line in summary["lines"]:
        print(line)
    print("\n".join(coverage.lines()))
    if options.json:
        Path(options.json).write_text(json.dumps(
            {"builds": builds, "instructions": counter.how, "rounds": options.rounds, "programs": rows,
             "geometric_means": summary["means"], "coverage": coverage.report()}, indent=1) + "\n")
    sys.exit(1 if options.check and (summary["below"] or not coverage.shows_something) else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", default=[], help="an interpreter; the first is measured off and on")
    parser.add_argument("--program", action="append", default=[], metavar="NAME", help="only this program and its unseen one")
    parser.add_argument("--only-seen", action="store_true", help="leave out the unseen programs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--laps", type=int, help="iterations in each process, instead of the table's")
    parser.add_argument("--threshold", type=int, help="instead of the default, which is what bars are about")
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--callgrind", action="store_true", help="count instructions with valgrind where perf can't (slow)")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a bar is missed or coverage is too small")
    parser.add_argument("--require-jit", action="store_true")
    return parser.parse_args()


def choose(table, options):
    for name in options.program:
        if name not in table:
            sys.exit(f"--program: {name!r} is not in programs.toml; it has {', '.join(table)}")
    return [name for name, entry in table.items()
            if not (options.only_seen and "kind" in entry)
            and (not options.program or name in options.program or entry.get("kind") in options.program)]


def build(python):
    """The interpreter's version and how it was built, in one line."""
    code = ("import platform, sysconfig as s\nv = s.get_config_var\n"
            "flags = ' '.join(str(v(n)) for n in ('CONFIG_ARGS', 'PY_CFLAGS', 'PY_CORE_CFLAGS', 'PY_LDFLAGS', 'PGO_PROF_USE_FLAG'))\n"
            "args = str(v('CONFIG_ARGS'))\n"
            "pgo = '--enable-optimizations' in args; lto = '--with-lto' in args or '-flto' in flags\n"
            "kind = ' and '.join([*['PGO'] * pgo, *['LTO'] * lto]) or 'configured without PGO and LTO'\n"
            "opt = [w for w in str(v('PY_CFLAGS')).split() if w.startswith('-O')]\n"
            "print('CPython', platform.python_version(), f'({kind}; {opt[-1] if opt else chr(63)};',"
            " ('shared libpython' if v('Py_ENABLE_SHARED') else 'static') + ';', platform.python_compiler() + ')')")
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


class Instructions:
    """Counts user-mode instructions of a whole process, with the tools of this machine."""

    def __init__(self, callgrind):
        self.tool = None
        if counting.perf_counts():
            self.tool, self.how = "perf", "perf stat, all threads, whole processes"
        elif callgrind and shutil.which("valgrind"):
            self.tool, self.how = "callgrind", "valgrind, per iteration of shrunken programs, one process each"
        elif callgrind:
            self.how = "not available: no hardware counters and no valgrind"
        else:
            self.how = "not available: no hardware counters (--callgrind counts with valgrind)"

    def per_iteration(self, arm, name, timeout):
        """Under valgrind: the cost of one more iteration, on shrunken sizes."""
        few, many = (self._callgrind(arm, name, laps, timeout) for laps in (4, 6))
        return (many - few) / 2 if few and many and many > few else None

    def _callgrind(self, arm, name, laps, timeout):
        with tempfile.TemporaryDirectory() as folder:
            command = arm.command(Path(folder, "stats.json"), [name, "--laps", str(laps), "--shrink", "40"])
            command = counting.under("callgrind", command, folder)
            return counting.collected("callgrind", harness.run(command, env=arm.env(), timeout=timeout), folder)


def measure(name, entry, arms, options, counter, coverage):
    runs = {arm.name: [] for arm in arms}
    for _ in range(options.rounds):
        for arm in arms:
            runs[arm.name].append(child(name, arm, options, counter, coverage))
    digests = {run["digest"] for results in runs.values() for run in results}
    if digests != {entry["digest"]}:
        sys.exit(f"{name}: answers differ: {', '.join(sorted(digests))}, the table has {entry['digest']}")
    median = {arm: {key: statistics.median(run[key] for run in results) for key in ("steady_s", "cold_s", "total_s")}
              for arm, results in runs.items()}
    instructions = None
    if counter.tool == "perf":
        per_arm = {arm: statistics.median(run["instructions"] for run in results) for arm, results in runs.items()}
        instructions = per_arm["off"] / per_arm["jit"]
    elif counter.tool == "callgrind":
        off, jit = (counter.per_iteration(arm, name, options.timeout) for arm in arms[:2])
        instructions = off / jit if off and jit else None
    return {
        "program": name, "kind": entry.get("kind"), "bar": entry["bar"], "off_steady_s": median["off"]["steady_s"],
        "off_total_s": median["off"]["total_s"],
        "steady": median["off"]["steady_s"] / median["jit"]["steady_s"], "cold": median["off"]["cold_s"] / median["jit"]["cold_s"],
        "instructions": instructions,
        "noise": max(spread([run["steady_s"] for run in results]) for results in runs.values()),
        "others": {arm.name: median["off"]["steady_s"] / median[arm.name]["steady_s"] for arm in arms[2:]},
        "runs": runs,
    }


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def child(name, arm, options, counter, coverage):
    words = [name] + (["--laps", str(options.laps)] if options.laps else [])
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder, "stats.json")
        command = arm.command(stats, words)
        if counter.tool == "perf":
            command = counting.under("perf", command, folder)
        ended = harness.run(command, env=arm.env(), timeout=options.timeout, stats=stats if arm.jit else None)
        if ended.code != 0:
            sys.exit(f"{name} [{arm.name}]: {ended.how()}\n{ended.stderr.decode(errors='replace')[-2000:]}")
        result = json.loads(ended.stdout)
        if counter.tool == "perf":
            result["instructions"] = counting.collected("perf", ended, folder)
    if arm.jit:
        coverage.add(ended.stats)
        result["coverage"] = ended.stats.get("coverage")
    return result


def shown(row, others):
    counted = f"{row['instructions']:8.2f}" if row["instructions"] else f"{'-':>8}"
    return (f"{row['program']:24}{row['off_steady_s']:8.3f}{row['steady']:8.2f}x{row['cold']:7.2f}x{counted}{row['bar']:6.1f}x  "
            f"{'' if good(row) else 'BELOW ':6}{row['noise']:6.0%}" + "".join(f"{row['others'][arm.name]:9.2f}x" for arm in others))


def good(row):
    slower = row["instructions"] is not None and row["instructions"] < NOT_SLOWER_BY_INSTRUCTIONS
    return row["steady"] >= row["bar"] and not slower


def summarise(rows, options):
    means, lines = {}, []
    for title, some in (("programs", [r for r in rows if not r["kind"]]), ("unseen programs", [r for r in rows if r["kind"]])):
        if some:
            means[title] = mean = {key: geometric_mean([r[key] for r in some]) for key in ("steady", "cold")}
            lines.append(f"geometric mean of {len(some)} {title}: steady {mean['steady']:.2f}x, cold {mean['cold']:.2f}x")
    below = [r["program"] for r in rows if not good(r)]
    lines.append("below the bar: " + (" ".join(below) if below else "none"))
    return {"means": means, "lines": lines, "below": below}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


if __name__ == "__main__":
    main()
