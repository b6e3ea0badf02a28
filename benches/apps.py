"""Real programs without and with the JIT, from the first value on: alternating fresh processes.

    python benches/apps.py [--python P]... [--packages DIR] [--program NAME]... [--rounds N] [--seconds S] [--json FILE] [--check]
    python benches/apps.py --warm         # with a machine-code cache that an earlier run has filled
    python benches/apps.py --processes    # whole processes of less than a second: wall time
    python benches/apps.py --service [--workers N]   # a web application under gunicorn: requests in each second, memory
    python benches/apps.py --idle         # memory of a process that does nothing

The programs' packages are installed by `pip install -r benches/apps.requirements.txt`, into the
environment or, with `--target DIR`, a folder that `--packages DIR` names. Results are ratios of
medians. Ratios above 1 mean faster than without the JIT; for memory, more.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import apps_processes
import apps_service
from apps_ways import HERE, WAYS, Bar, Ways, harness, last_line
from compare import build, spread

BARS = (
    Bar("first", "first value", mean=0.85, each=0.6),
    Bar("second", "first second", mean=1.0, each=0.9),
    Bar("five", "first 5 s"),
    Bar("steady", "steady", each=0.97),
    Bar("memory", "memory", mean=1.3, more_is_worse=True),
    Bar("peak", "peak of memory", more_is_worse=True),
)
#: With a cache that was filled before.
WARM_SECOND = Bar("second", "first second", mean=1.1, each=0.9)
#: For all programs together.
MOST_UNITS = 1.3
LEAST_FOUND = 0.8
LONGEST_STALL_MS = 10.0
SHORT_STALLS = 0.99


def main():
    options = arguments()
    with open(HERE / "apps.toml", "rb") as file:
        table = tomllib.load(file)
    part = next((part for name, part in PARTS.items() if getattr(options, name)), programs)
    pythons = [harness.find_python(python) for python in options.python] or [harness.find_python()]
    reports = []
    for python in pythons:
        ways = Ways(python, options.packages, options.jit_option, options.warm)
        reason = harness.unavailable(python)
        if reason:
            sys.exit(f"the JIT can't work in {python}: {reason}")
        print(build(python), flush=True)
        report = part(ways, table, options)
        reports.append({"build": build(python), **report})
        print("\n".join(report["lines"]) + "\n", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=1) + "\n")
    failed = [name for report in reports for name in report["failed"]]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    sys.exit(1 if options.check and any(report["below"] for report in reports) else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", default=[], help="an interpreter; each is measured without the JIT and with it")
    parser.add_argument("--packages", metavar="DIR", type=lambda text: str(Path(text).resolve()),
                        help="where the programs' packages are, if not installed")
    parser.add_argument("--program", action="append", default=[], metavar="NAME", help="only this program (with --processes, this process)")
    parser.add_argument("--rounds", type=int, help="processes each way: 3 of programs, 20 whole processes, 2 of the service, 9 idle ones")
    parser.add_argument("--seconds", type=float, help="for how long a process runs: 5 s of values, 20 s of requests")
    parser.add_argument("--jit-option", action="append", default=[], metavar="OPTION",
                        help="of `python -m cladonia`, as in --jit-option=--threshold=500")
    parser.add_argument("--warm", action="store_true", help="run each once before, to fill a cache of machine code")
    parser.add_argument("--processes", action="store_true", help="whole processes of less than a second")
    parser.add_argument("--service", action="store_true", help="a web application under gunicorn")
    parser.add_argument("--workers", type=int, default=1, help="of the service, each asked by one client")
    parser.add_argument("--idle", action="store_true", help="memory of a process that does nothing")
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a bar is missed, or the JIT was off in some process")
    return parser.parse_args()


def chosen_of(table, ways, options, kind):
    """The requested entries that can run here; missing packages are printed."""
    for name in options.program:
        if name not in table:
            sys.exit(f"--program: {name!r} is no {kind} of apps.toml; it has {', '.join(table)}")
    chosen = {name: {"name": name, **table[name]} for name in options.program or table}
    missing = ways.missing(sorted({module for entry in chosen.values() for module in entry.get("needs", ())}))
    left_out = [name for name, entry in chosen.items() if missing & set(entry.get("needs", ()))]
    if left_out:
        print(f"left out: {', '.join(left_out)}: there is no {', no '.join(sorted(missing))} (see benches/apps.requirements.txt)")
    return {name: entry for name, entry in chosen.items() if name not in left_out}


def programs(ways, table, options):
    table = {name: {"needs": ["pyperformance", *entry.get("needs", ())]} | entry if "pyperformance" in entry else entry
             for name, entry in table["program"].items()}
    chosen = chosen_of(table, ways, options, "program")
    seconds, rounds = options.seconds or 5.0, options.rounds or 3
    bars = [WARM_SECOND if options.warm and bar.key == "second" else bar for bar in BARS]
    if seconds < 5.0:
        bars = [replace(bar, title=f"first {seconds:g} s") if bar.key == "five" else bar for bar in bars]
    titles = ("off ms", "first", f"{min(1, seconds):g} s", f"{min(5, seconds):g} s", "steady", "memory", "peak", "compile")
    print(f"{rounds} rounds of {seconds:g} s each way, fresh processes in turn{', with a cache that was filled before' if options.warm else ''}\n\n"
          f"{'program':22}" + "".join(f"{title:>9}" for title in titles) + f"{'beside':>8}{'units':>7}{'each':>6}{'noise':>7}", flush=True)
    rows, failed, coverage = [], [], harness.Coverage()
    for name, entry in chosen.items():
        row = measured(Measurement(ways, entry, seconds, options), rounds, coverage)
        if row is None:
            failed.append(name)
            continue
        row["below"] = [bar.title for bar in bars if bar.missed(row[bar.key], bar.each)]
        rows.append(row)
        print(shown(row), flush=True)
    lines, below = summary(rows, bars, options) if rows else ([], [])
    asked = options.program or table
    if rows and len(rows) < len(asked):
        lines[0] = f"geometric means of {len(rows)} of the {len(asked)} programs, and the worst of each column:"
    if coverage.off or coverage.silent:
        below.append("coverage")
    return {"rounds": rounds, "seconds": seconds, "warm": options.warm, "programs": rows, "lines": ["", *lines, *coverage.lines()],
            "below": below, "failed": failed, "coverage": coverage.report()}


class Measurement:
    """The processes of one program."""

    def __init__(self, ways, entry, seconds, options):
        self.ways, self.entry, self.seconds = ways, entry, seconds
        self.timeout = options.timeout
        self.answers = {}

    def child(self, way, seconds=None):
        """The output of a process, and its statistics; None if it failed, which is printed."""
        name = self.entry["name"]
        words = [HERE / "apps_child.py", json.dumps(self.entry), self.seconds if seconds is None else seconds]
        ended = self.ways.run(way, name, words, self.timeout, stats=True)
        if ended.code != 0:
            print(f"{name:22} FAILED {'with' if way == 'jit' else 'without'} the JIT: {ended.how()}: {last_line(ended)}", flush=True)
            return None
        result = json.loads(ended.stdout.splitlines()[-1])
        self.answers.setdefault(way, set()).add(result["digest"])
        return result | {"stats": ended.stats}

    def agree(self):
        """True if the answers with and without the JIT are equal. An answer that is equal but
        differs from the table's comes from other package versions."""
        name, answers = self.entry["name"], set().union(*self.answers.values())
        if len(answers) > 1:
            each = "; ".join(f"{way} {' '.join(sorted(some))}" for way, some in self.answers.items())
            print(f"{name:22} FAILED: answers differ: {each}", flush=True)
            return False
        if self.entry.get("digest", *answers) not in answers:
            print(f"{name:22} note: the answer {' '.join(answers)} is not the table's, with or without the JIT: other versions, it seems", flush=True)
        return True


def measured(program, rounds, coverage):
    """A row; None if the program failed. One process that does not count writes the .pyc files,
    and with `--warm` another one fills the cache."""
    if program.child("off", seconds=0) is None or (program.ways.warm and program.child("jit") is None):
        return None
    runs = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in WAYS if number % 2 == 0 else WAYS[::-1]:
            run = program.child(way)
            if run is None:
                return None
            runs[way].append(run)
    if not program.agree():
        return None
    for run in runs["jit"]:
        coverage.add(run["stats"])
    return row_of(program.entry["name"], runs)


def row_of(name, runs):
    median = {way: {key: statistics.median(run[key] for run in some) for key in ("first_s", "first_second", "first_five", "steady_s", "end_mb", "peak_mb")}
              for way, some in runs.items()}
    off, jit = median["off"], median["jit"]
    stats = [run.pop("stats") for run in runs["jit"]]
    for run in runs["off"]:
        del run["stats"]
    return {
        "program": name, "off_steady_s": off["steady_s"], "first": off["first_s"] / jit["first_s"],
        "second": jit["first_second"] / off["first_second"], "five": jit["first_five"] / off["first_five"],
        "steady": off["steady_s"] / jit["steady_s"], "memory": jit["end_mb"] / off["end_mb"],
        "peak": jit["peak_mb"] / off["peak_mb"],
        "compile_ms": statistics.median(one.get("compile_ms", 0.0) for one in stats), "compile_beside_ms": of_all(stats, "compile_beside_ms"),
        "units": statistics.median(one.get("units", 0) for one in stats),
        "functions": statistics.median(one.get("coverage", {}).get("functions_compiled", 0) for one in stats),
        "stalls": [one["stalls"] for one in stats if "stalls" in one], "cache": [one["cache"] for one in stats if "cache" in one],
        "noise": max(spread([run["steady_s"] for run in some]) for some in runs.values()), "runs": runs,
    }


def of_all(stats, key):
    """The median of a figure that older builds lack."""
    return statistics.median(one[key] for one in stats) if all(key in one for one in stats) else None


def shown(row):
    beside = "-" if row["compile_beside_ms"] is None else f"{row['compile_beside_ms']:.0f}"
    each = f"{row['units'] / row['functions']:.1f}" if row["functions"] else "-"
    return (f"{row['program']:22}{row['off_steady_s'] * 1000:9.2f}" + "".join(f"{row[bar.key]:8.2f}x" for bar in BARS)
            + f"{row['compile_ms']:9.0f}{beside:>8}{row['units']:7.0f}{each:>6}{row['noise']:7.0%}"
            + (f"  BELOW: {', '.join(row['below'])}" if row["below"] else ""))


def summary(rows, bars, options):
    lines, below = [f"geometric means of {len(rows)} programs, and the worst of each column:"], []
    for bar in bars:
        line, missed = bar.line(rows, "program")
        lines.append("  " + line)
        below += [bar.title] * missed
    for bar in bars:
        some = [row["program"] for row in rows if bar.missed(row[bar.key], bar.each)]
        if some:
            lines.append(f"  {bar.title} below {bar.each}x in {len(some)}: {' '.join(some)}")
    compiled, beside = (sum(row[key] or 0 for row in rows) for key in ("compile_ms", "compile_beside_ms"))
    units, functions = (sum(row[key] for row in rows) for key in ("units", "functions"))
    each = units / functions if functions else 0.0
    lines.append(f"compiling: {compiled / 1000:.1f} s on the programs' threads, {beside / 1000:.1f} s beside them; {units:.0f} units for "
                 f"{functions:.0f} functions, {each:.2f} each (bar {MOST_UNITS}){'  BELOW' if each > MOST_UNITS else ''}")
    below += ["units"] * (each > MOST_UNITS)
    for title, part in (("stalls", stalls(rows)), ("cache", found_in_cache(rows) if options.warm else None)):
        if part:
            lines.append(f"{title}: {part[0]}{'  BELOW' if part[1] else ''}")
            below += [title] * part[1]
    return lines, below


def stalls(rows):
    """The compiler's stalls of the program's thread, over all processes: `longest_ms`, and
    `counts` by upper bounds in milliseconds (the last is `inf`). None for builds that do not
    report it."""
    some = [(row["program"], one) for row in rows for one in row["stalls"]]
    if not some:
        return None
    counts = {}
    for _, one in some:
        for limit, count in one.get("counts", {}).items():
            counts[float(limit)] = counts.get(float(limit), 0) + count
    program, longest = max(some, key=lambda pair: pair[1]["longest_ms"])
    whole = sum(counts.values())
    short = sum(count for limit, count in counts.items() if limit <= 1.0) / whole if whole else 1.0
    spread_out = ", ".join(f"{count} below {limit:g} ms" for limit, count in sorted(counts.items()))
    line = (f"longest {longest['longest_ms']:.1f} ms, in {program} (bar {LONGEST_STALL_MS:g}); "
            f"{short:.1%} below 1 ms (bar {SHORT_STALLS:.0%}); {spread_out}")
    return line, longest["longest_ms"] > LONGEST_STALL_MS or short < SHORT_STALLS


def found_in_cache(rows):
    """The share of units found in the cache: `units_found` and `units_missed` of the
    statistics."""
    told = [row for row in rows if row["cache"]]
    if not told:
        return "the statistics tell nothing of a cache", False
    share = {row["program"]: min(one["units_found"] / max(1, one["units_found"] + one["units_missed"]) for one in row["cache"]) for row in told}
    worst = min(share, key=share.get)
    return f"{share[worst]:.0%} of the units found in {worst}, the worst (bar {LEAST_FOUND:.0%})", share[worst] < LEAST_FOUND


def processes(ways, table, options):
    return apps_processes.processes(ways, chosen_of(table["process"], ways, options, "process"), options)


PARTS = {"processes": processes, "service": lambda ways, table, options: apps_service.service(ways, options),
         "idle": lambda ways, table, options: apps_processes.idle(ways, options)}

if __name__ == "__main__":
    main()
