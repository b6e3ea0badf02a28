"""Runs pyperformance's pure-Python programs without and with the JIT, in fresh processes.

    python benches/suite.py [--python P] [--program NAME]... [--rounds N] [--json FILE]
    python benches/suite.py --guards [--without PASS,...]     # number of executed guards, no times
    python benches/suite.py --instructions [--without ...]    # instructions per value (perf, or valgrind, which is slow)
    python benches/suite.py --accesses                        # kinds of attribute accesses in compiled code
    python benches/suite.py --questions                       # cost and gain of path queries
    python benches/suite.py --coverage                        # hot functions, compiled ones, reasons for others; as Markdown
    python benches/suite.py --facts                           # each fact as a check, and the cost of finding them

`P` must have pyperformance installed. Each process is a worker of pyperf, so a program runs as its
authors wrote it.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import io
import json
import math
import re
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

# The kinds of attribute accesses: the last two are those without a plan.
ACCESS_KINDS = ("watched", "guarded", "polymorphic", "cached", "general")

# The passes that find facts out: types through joins, what the unit's own objects hold, memory, paths.
FACT_PASSES = ("types", "heap", "memory", "split", "paths")


def main():
    options = arguments()
    with open(HERE / "suite.toml", "rb") as file:
        table = tomllib.load(file)
    for name in options.program:
        if name not in table:
            sys.exit(f"--program: {name!r} is not in suite.toml; it has {', '.join(table)}")
    python = harness.find_python(options.python)
    folder = benchmarks(python)
    reason = harness.unavailable(python)
    if reason:
        sys.exit(f"the JIT can't work here: {reason}")
    chosen = {name: table[name] for name in options.program or table}
    works = {"guards": guards, "instructions": instructions, "accesses": accesses, "questions": questions, "coverage": coverage, "facts": facts}
    work = next((work for name, work in works.items() if getattr(options, name)), speed)
    rows = work(Suite(python, folder, options), chosen)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", help="an interpreter with pyperformance")
    parser.add_argument("--program", action="append", default=[], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--values", type=int, default=5, help="values measured in each process, after as many to warm up")
    parser.add_argument("--guards", action="store_true", help="count executed guards, with and without the passes of --without")
    parser.add_argument("--without", default="paths", metavar="PASS,...", help="for --guards and --instructions (default: paths)")
    parser.add_argument("--instructions", action="store_true", help="count the instructions of a value, with and without the passes of --without")
    parser.add_argument("--accesses", action="store_true", help="count executed attribute accesses, by how compiled code made them")
    parser.add_argument("--questions", action="store_true", help="what questions about paths cost, and how many checks they removed")
    parser.add_argument("--coverage", action="store_true", help="functions that became hot, those compiled, and refusals by reason")
    parser.add_argument("--facts", action="store_true", help="let each fact that code could rely on be a check, and print what finding facts costs")
    parser.add_argument("--threshold", type=int, help="instead of the default")
    parser.add_argument("--timeout", type=float, default=600.0)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def benchmarks(python):
    """The folder of pyperformance's programs."""
    code = "import pathlib, pyperf, pyperformance; print(pathlib.Path(pyperformance.__file__).parent / 'data-files' / 'benchmarks')"
    out = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"{python} has no pyperformance; `{python} -m pip install pyperformance` installs it, or --python names another")
    return Path(out.stdout.strip())


class Suite:
    def __init__(self, python, folder, options):
        self.python, self.folder, self.options = python, folder, options
        self.coverage = harness.Coverage()

    def run(self, name, entry, jit, words=(), values=None, counted=None):
        """One process: the seconds of its values (without the warm-up), and the JIT's statistics.
        None if it failed, which is printed.

        With `counted`, `perf` or `callgrind`, the instructions of the whole process instead of the
        seconds."""
        values = self.options.values if values is None else values
        script = self.folder / entry["folder"] / "run_benchmark.py"
        with tempfile.TemporaryDirectory() as folder:
            stats, out = Path(folder, "stats.json"), Path(folder, "out.json")
            ours = ["-m", "cladonia", "--stats", stats, *words] if jit else []
            if jit and self.options.threshold is not None:
                ours += ["--threshold", str(self.options.threshold)]
            command = [self.python, *ours, script, "--worker", "-l", str(entry.get("loops", 1)), "-w", str(values), "-n", str(values),
                       "-o", out, *entry.get("args", [])]
            if counted:
                command = counting.under(counted, command, folder)
            env = harness.environment(self.python, **({} if jit else {"CLADONIA_OFF": "1"}))
            ended = harness.run(command, env=env, timeout=self.options.timeout, stats=stats if jit else None, cwd=folder)
            if ended.code != 0 or not out.exists():
                why = ended.stderr.decode(errors="replace").strip().splitlines()
                print(f"{name}: {ended.how()}{' with the JIT' if jit else ''}: {why[-1] if why else ''}", flush=True)
                return None
            if counted:
                return counting.collected(counted, ended, folder), ended.stats
            runs = json.loads(out.read_text())["benchmarks"][0]["runs"]
        return [value for run in runs for value in run["values"]], ended.stats


def counted(chosen):
    """The programs one after the other, with a progress bar if the terminal does not show the
    rows."""
    # By its path: the package need not be installed here.
    spec = importlib.util.spec_from_file_location("progress", harness.PACKAGE / "cladonia" / "_progress.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.Progress("suite", None if not sys.stdout.isatty() else io.StringIO()) as progress:
        for number, (name, entry) in enumerate(chosen.items()):
            progress.step(number, len(chosen), name)
            yield name, entry


def speed(suite, chosen):
    options, rows = suite.options, []
    print(f"{options.rounds} rounds, {options.values} values a process\n{'program':28}{'off s':>9}{'steady':>9}{'compile ms':>12}{'exits':>9}")
    for name, entry in counted(chosen):
        off, jit, stats = [], [], {}
        for _ in range(options.rounds):
            base, ours = suite.run(name, entry, jit=False), suite.run(name, entry, jit=True)
            if base is None or ours is None:
                break
            off += base[0]
            jit += ours[0]
            stats = ours[1]
        else:
            suite.coverage.add(stats)
            row = {"program": name, "off_s": statistics.median(off), "steady": statistics.median(off) / statistics.median(jit),
                   "compile_ms": stats["compile_ms"], "exits": sum(exit["count"] for exit in stats["exits"]),
                   "refused": stats["refused"]}
            rows.append(row)
            print(f"{name:28}{row['off_s']:9.4f}{row['steady']:8.2f}x{row['compile_ms']:12.0f}{row['exits']:9}", flush=True)
    if rows:
        mean = math.exp(statistics.fmean(math.log(row["steady"]) for row in rows))
        slower = [row["program"] for row in rows if row["steady"] < 0.9]
        print(f"\ngeometric mean {mean:.2f}x of {len(rows)} programs; slower (below 0.9x): {', '.join(slower) or 'none'}")
    print("\n".join(suite.coverage.lines()))
    return rows


def guards(suite, chosen):
    options, rows = suite.options, []
    print(f"guards executed in the process, without {options.without} and with\n{'program':28}{'without':>14}{'with':>14}{'fewer':>9}")
    for name, entry in counted(chosen):
        entry = {**entry, "loops": 1}
        force = ["--force-exit", "count"]
        found = [suite.run(name, entry, True, words, values=1) for words in ([*force, "--without", options.without], force)]
        if None in found:
            continue
        without, full = (run[1]["forced_exits"]["executions"] for run in found)
        row = {"program": name, "without": without, "with": full}
        rows.append(row)
        before, after = sum(without.values()), sum(full.values())
        fewer = 100 * (1 - after / before) if before else 0.0
        print(f"{name:28}{before:14}{after:14}{fewer:8.2f} %", flush=True)
    return rows


def instructions(suite, chosen):
    """Instructions per value of a warm program: the difference between a process with more values
    and one with fewer, so that start and compiling cancel out."""
    options, rows = suite.options, []
    how = "perf" if counting.perf_counts() else "callgrind"
    few, many = options.values, options.values + 2
    print(f"instructions of a value, counted with {how}, without {options.without} and with\n{'program':28}{'without':>16}{'with':>16}{'fewer':>9}")
    for name, entry in counted(chosen):
        found = [[suite.run(name, entry, True, words, values=values, counted=how) for values in (few, many)]
                 for words in (["--without", options.without], [])]
        if any(run is None or run[0] is None for runs in found for run in runs):
            continue
        # Each further value also adds one to the warm-up.
        before, after = ((more[0] - less[0]) / (2 * (many - few)) for less, more in found)
        rows.append({"program": name, "without": before, "with": after})
        print(f"{name:28}{before:16.0f}{after:16.0f}{100 * (1 - after / before):8.2f} %", flush=True)
    return rows


def accesses(suite, chosen):
    """Shares of the access kinds in compiled code, for one value after one of warm-up; as
    Markdown."""
    rows = []
    print("| program | accesses |", " | ".join(ACCESS_KINDS), "| cached or general |\n| --- |", "---: | " * (len(ACCESS_KINDS) + 2))
    for name, entry in counted(chosen):
        ran = suite.run(name, {**entry, "loops": 1}, True, ["--force-exit", "count"], values=1)
        if ran is None:
            continue
        found = ran[1]["accesses"]
        rows.append({"program": name, **found})
        of_all = [share(count, sum(found.values()) - count) for count in
                  (*(found[kind] for kind in ACCESS_KINDS), found["cached"] + found["general"])]
        print(f"| {name} | {sum(found.values())} |", " | ".join(of_all), "|", flush=True)
    return rows


def coverage(suite, chosen):
    """A table for docs/coverage.md: one value of each program after one of warm-up."""
    rows, refused = [], collections.Counter()
    print("| program | hot | compiled | refused or given up | native calls | native loop turns |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, entry in counted(chosen):
        ran = suite.run(name, entry, True, values=1)
        if ran is None:
            continue
        found = ran[1]["coverage"]
        reasons = collections.Counter({general(reason): count for reason, count in harness.refusals(ran[1]).items()})
        refused += reasons
        row = {"program": name, "hot": found["functions_eligible"], "compiled": found["functions_compiled"], "refused": dict(reasons)}
        rows.append(row)
        print(f"| {name} | {row['hot']} | {row['compiled']} | {sum(reasons.values())} | "
              f"{share(found['native_calls'], found['interpreted_calls'])} | "
              f"{share(found['native_loop_iterations'], found['interpreted_loop_iterations'])} |", flush=True)
    hot, compiled = sum(row["hot"] for row in rows), sum(row["compiled"] for row in rows)
    print(f"\n{len(rows)} of {len(chosen)} programs ended well: {compiled} of {hot} functions that became hot were compiled "
          f"({share(compiled, hot - compiled)}).\n\n| refused or given up | count |\n| --- | ---: |")
    for reason, count in refused.most_common():
        print(f"| {reason} | {count} |")
    return rows


def general(reason):
    """A reason without its line number."""
    return re.sub(r" \(line \d+\)$", "", reason)


def share(native, interpreted):
    whole = native + interpreted
    return f"{native / whole:.1%}" if whole else "-"


def questions(suite, chosen):
    rows = []
    print(f"{'program':28}{'graphs':>8}{'asked':>8}{'median':>9}{'removed':>9}{'compile ms':>12}{'paths':>9}")
    for name, entry in counted(chosen):
        ran = suite.run(name, entry, True, values=1)
        if ran is None:
            continue
        stats, paths = ran[1], ran[1]["paths"]
        took = sum(stats["passes_ms"].get(name, 0.0) for name in ("split", "paths"))
        rows.append({"program": name, "compile_ms": stats["compile_ms"], "paths_ms": took, **paths})
        share = 100 * took / stats["compile_ms"] if stats["compile_ms"] else 0.0
        print(f"{name:28}{paths['graphs']:8}{paths['questions']:8}{paths['median_walks']:9.2f}{paths['proved']:9}"
              f"{stats['compile_ms']:12.0f}{share:7.2f} %", flush=True)
    total = sum(row["compile_ms"] for row in rows)
    if total:
        share = 100 * sum(row["paths_ms"] for row in rows) / total
        print(f"\n{sum(row['questions'] for row in rows)} questions; `median` is in plain walks backwards; {share:.2f} % of the time "
              f"in the compiler; {sum(row['proved'] > 0 for row in rows)} of {len(rows)} programs have checks less")
    return rows


def facts(suite, chosen):
    """One value after one of warm-up with facts as checks (a false one ends the process), and one
    as usual, for the times of the passes."""
    rows, failed = [], []
    print(f"{'program':28}{'checked':>9}{'compile ms':>12}{'facts':>9}" + "".join(f"{name:>9}" for name in FACT_PASSES))
    for name, entry in counted(chosen):
        entry = {**entry, "loops": 1}
        checked = suite.run(name, entry, True, ["--check-facts"], values=1)
        ran = suite.run(name, entry, True, values=1)
        if checked is None or ran is None:
            failed.append(name)
            continue
        compile_ms, passes = ran[1]["compile_ms"], ran[1]["passes_ms"]
        row = {"program": name, "units": checked[1]["units"], "compile_ms": compile_ms, **{name: passes.get(name, 0.0) for name in FACT_PASSES}}
        rows.append(row)
        shares = [100 * took / compile_ms if compile_ms else 0.0 for took in (sum(row[name] for name in FACT_PASSES), *(row[name] for name in FACT_PASSES))]
        print(f"{name:28}{row['units']:6} ok{compile_ms:12.0f}" + "".join(f"{share:7.2f} %" for share in shares), flush=True)
    total = sum(row["compile_ms"] for row in rows)
    if total:
        each = ", ".join(f"{name} {100 * sum(row[name] for row in rows) / total:.2f} %" for name in FACT_PASSES)
        of_all = 100 * sum(row[name] for row in rows for name in FACT_PASSES) / total
        print(f"\n{len(rows)} programs without a false fact; finding facts is {of_all:.2f} % of the time in the compiler: {each}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    return rows


if __name__ == "__main__":
    main()
