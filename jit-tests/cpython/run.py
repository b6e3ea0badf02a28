"""Runs CPython's own test suite without and with the JIT, and prints every difference.

    python jit-tests/cpython/run.py [--files test_int,test_list] [--ci | --all] [--oracle] [--check-facts] [--audit] [--fresh | --keep]

Each file runs in a process of its own with a time limit. Each test case with another outcome is a
difference. Results are kept in results/, so an interrupted run continues where it stopped:
interpreted results are valid for the same Python, compiled ones for the same native module.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness

HERE = Path(__file__).resolve().parent
#: The files that must have the same results with and without the JIT.
USUAL = """test_int test_long test_float test_bool test_list test_tuple test_dict test_set test_range test_str test_grammar
    test_exceptions test_class test_descr test_scope test_functools test_generators test_sys test_sys_settrace test_traceback
    test_threading test_gc test_weakref""".split()
#: At most three minutes in total, with and without the JIT.
CI = "test_int test_float test_bool test_list test_tuple test_dict test_range test_grammar test_class test_scope test_generators".split()


def main():
    options = arguments()
    python = harness.find_python(options.python)
    reason = harness.unavailable(python)
    if reason:
        print(f"note: the JIT can't work in {python}: {reason}")
        if options.require_jit:
            sys.exit(1)
    files = sample(all_files(python) if options.all else CI if options.ci else options.files.split(",") if options.files else USUAL, options.sample)
    results = Results(options.results, fingerprint(python), options.fresh, options.keep)
    runner = Runner(python, options, results)
    coverage = harness.Coverage()
    differing = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, base, ours in pool.map(runner.file, files):
            rows = differences(base, ours)
            if rows and options.recheck:
                rows, flaky = runner.recheck(name, rows)
            else:
                flaky = []
            stats = ours.get("stats", {})
            faults = harness.faults(stats)
            differing += len(rows) + len(faults)
            if not ours.get("timeout"):
                coverage.add(stats)
            print(f"{name:24} {counts(base):34} {base['seconds']:6.1f}s   with the JIT {ours['seconds']:6.1f}s "
                  f"{'same' if not rows else f'{len(rows)} DIFFER'}{f', {len(flaky)} unsteady' if flaky else ''}", flush=True)
            lost = [row for row in rows if row[2] == "not run"]
            if len(lost) < len(rows):  # The process ended early: later cases have no outcome.
                rows = [row for row in rows if row[2] != "not run"]
                if lost:
                    print(f"    {len(lost)} cases were not run")
            for case, was, now, detail in rows:
                print(f"    {case}: {was} -> {now}")
                for line in detail.strip().splitlines()[-options.detail:] if options.detail else ():
                    print(f"        {line}")
            for fault in faults:
                print(f"    found wrong by the compiler: {fault[:1000]}")
            for case in flaky:
                print(f"    unsteady without the JIT or on a second run: {case}")
    print("\n".join(coverage.lines()))
    print(f"{len(files)} files, {differing} differences")
    sys.exit(1 if differing else 0)


def sample(files, count):
    """So many of the files, others after each commit."""
    if not count or count >= len(files):
        return files
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout.strip()
    return sorted(random.Random(commit).sample(files, count))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--files", help="names of test files, with commas (default: the list that must agree)")
    which.add_argument("--ci", action="store_true", help="a subset of at most three minutes")
    which.add_argument("--all", action="store_true", help="every file of the suite")
    parser.add_argument("--sample", type=int, metavar="N", help="only N of these files, chosen by the commit")
    parser.add_argument("--python", help="the interpreter to test (default: .venv, $PYTHON, python3.13)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one file")
    parser.add_argument("--threshold", type=int, default=0)
    parser.add_argument("--oracle", action="store_true", help="compiled code runs in the LIR interpreter in place of machine code")
    parser.add_argument("--check-facts", action="store_true", help="facts that compiled code could rely on become checks; a false one ends the process")
    parser.add_argument("--audit", action="store_true", help="references are audited in all that is compiled; a fault counts as a difference")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--keep", action="store_true", help="keep results of another build of the JIT where nothing differed")
    parser.add_argument("--no-recheck", dest="recheck", action="store_false", help="don't run differing files once more, both ways")
    parser.add_argument("--detail", type=int, default=6, metavar="N", help="lines of the traceback of each difference")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--require-jit", action="store_true")
    return parser.parse_args()


def all_files(python):
    code = "import test, os; print(*sorted(os.listdir(os.path.dirname(test.__file__))))"
    names = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return sorted({name.removesuffix(".py") for name in names if name.startswith("test_")})


def fingerprint(python):
    """The versions that the results depend on: the interpreter, and the native module's bytes."""
    code = ("import sys, importlib.util as u\nprint(sys.version.replace('\\n', ' '))\n"
            "s = u.find_spec('cladonia._cladonia')\nprint(s.origin if s else '')")
    out = subprocess.run([python, "-P", "-c", code], env=harness.environment(python), capture_output=True, text=True)
    version, _, module = out.stdout.strip().partition("\n")
    native = hashlib.sha256(Path(module).read_bytes()).hexdigest()[:16] if module else "none"
    return {"base": version, "jit": f"{version} {native}"}


class Results:
    """One JSON file for each file of the suite and each mode, written at the end of that run."""

    def __init__(self, folder, prints, fresh, keep):
        self.folder = folder
        self.prints = prints
        self.keep = keep
        folder.mkdir(parents=True, exist_ok=True)
        if fresh:
            for file in folder.glob("*.json"):
                file.unlink()

    def path(self, name, mode):
        return self.folder / f"{name}.{mode.replace(' ', '-')}.json"

    def get(self, name, mode):
        result = harness.read_stats(self.path(name, mode))
        if result.get("of") == self.prints["base" if mode == "base" else "jit"]:
            return result
        is_sound = result and not harness.faults(result.get("stats", {}))
        if self.keep and is_sound and mode != "base" and not differences(self.get(name, "base") or {"cases": {}}, result):
            return result
        return None

    def put(self, name, mode, result):
        result["of"] = self.prints["base" if mode == "base" else "jit"]
        path = self.path(name, mode)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(result, indent=1))
        os.replace(unfinished, path)


class Runner:
    def __init__(self, python, options, results):
        self.python = python
        self.options = options
        self.results = results

    def file(self, name):
        words = "".join(f" {word.removeprefix('--')}" for word in self.words()) + " audit" * self.options.audit
        return name, self.once(name, "base"), self.once(name, f"threshold {self.options.threshold}{words}")

    def words(self):
        """Options of compiled runs, without the threshold."""
        options = self.options
        return [word for word, given in (("--oracle", options.oracle), ("--check-facts", options.check_facts)) if given]

    def once(self, name, mode):
        result = self.results.get(name, mode)
        if result is None:
            result = self.run(name, mode)
            self.results.put(name, mode, result)
        return result

    def run(self, name, mode):
        # CPython's suite expects an empty working directory of its own.
        with tempfile.TemporaryDirectory() as folder:
            out, stats = Path(folder, "cases.jsonl"), Path(folder, "stats.json")
            work = Path(folder, "work")
            work.mkdir()
            if mode == "base":
                env = harness.environment(self.python, CLADONIA_OFF="1")
                command = [self.python]
            else:
                env = harness.environment(self.python, **(harness.AUDIT if self.options.audit else {}))
                command = [self.python, "-m", "cladonia", "--threshold", self.options.threshold, "--stats", stats,
                           *self.words()]
            ended = harness.run([*command, HERE / "cases.py", f"test.{name}", out], env=env, timeout=self.options.timeout,
                                cwd=work, stats=stats)
            cases, running, finished = read_cases(out)
        if not finished:
            cases[running or f"test.{name}"] = [ended.how(), ended.stderr.decode(errors="replace")[-3000:]]
        return {"cases": cases, "seconds": round(ended.seconds, 2), "code": ended.code, "timeout": ended.code is None,
                "stats": ended.stats}

    def recheck(self, name, rows):
        """Run the file again without and with the JIT; return the differences that persist, and
        the flaky cases."""
        base, ours = self.run(name, "base"), self.run(name, "jit")
        again = {row[0] for row in differences(base, ours)}
        return [row for row in rows if row[0] in again], [row[0] for row in rows if row[0] not in again]


def read_cases(file):
    cases, running, finished = {}, None, False
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        row = json.loads(line)
        if "start" in row:
            running = row["start"]
        elif "case" in row:
            cases[row["case"]] = [row["ended"], row["detail"]]
            running = None
        else:
            finished = True
    return cases, running, finished


def differences(base, ours):
    """(case, outcome without, outcome with, detail) of every case whose outcome differs."""
    missing = ["not run", ""]
    out = []
    for case in sorted(base["cases"].keys() | ours["cases"].keys()):
        was, now = base["cases"].get(case, missing), ours["cases"].get(case, missing)
        if was[0] != now[0]:
            out.append((case, was[0], now[0], now[1]))
    return out


def counts(result):
    totals = {}
    for ended, _ in result["cases"].values():
        totals[ended] = totals.get(ended, 0) + 1
    return " ".join(f"{count} {ended}" for ended, count in sorted(totals.items(), key=lambda item: -item[1]))


if __name__ == "__main__":
    main()
