"""Shared by the fuzzers of Python programs: workers that search for disagreements, a corpus, and
the command line."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import harness


class Disagreement(AssertionError):
    """Compiled and interpreted runs of a case differ; the message says how."""


@dataclass
class Fuzzer:
    """The description of a fuzzer."""

    file: str
    corpus: Path
    counted: tuple[str, str]  # the names of a case and its parts
    ways: tuple[str, ...]
    work: Callable  # (seed, seconds, current, plant): a worker
    check: Callable  # (source, plant): raises Disagreement
    sow: Callable  # (count): writes the seed corpus
    damage: str  # the effect of --plant
    planted: str
    seconds_per_worker: float
    patience: float  # seconds that a worker may take beyond three times its own
    seconds_per_case: float


def main(fuzzer, about):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", action="store_true", help="run the corpus")
    parser.add_argument("--plant", action="store_true", help=f"{fuzzer.damage}, to see that it is found")
    parser.add_argument("--python")
    parser.add_argument("--require-jit", action="store_true")
    parser.add_argument("--sow", type=int, metavar="N", help="write N cases into the corpus")
    parser.add_argument("--one", type=Path, metavar="FILE", help="check one case in this process")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--current", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        return fuzzer.work(options.worker, options.seconds, options.current, options.plant)
    if options.one:
        try:
            fuzzer.check(options.one.read_text(encoding="utf-8"), options.plant)
        except Disagreement as error:
            sys.exit(f"{options.one.name}: {error}")
        return None
    if options.sow:
        sys.path.insert(0, str(harness.PACKAGE))
        return fuzzer.sow(options.sow)
    python = harness.find_python(options.python)
    reason = harness.unavailable(python)
    if reason:
        print(f"note: the JIT can't work in {python}, so this compares the interpreter with itself: {reason}")
        if options.require_jit:
            sys.exit(1)
    if options.replay:
        return replay(fuzzer, python)
    return search(fuzzer, python, options)


def search(fuzzer, python, options):
    """Start workers until the time is up; keep each case that disagreed or crashed."""
    started = time.monotonic()
    end = started + options.minutes * 60
    seed, cases, parts, findings = options.seed, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        current = Path(folder, "case.py")
        while time.monotonic() < end:
            left = min(fuzzer.seconds_per_worker, end - time.monotonic())
            words = [fuzzer.file, "--worker", seed, "--seconds", left, "--current", current, *["--plant"] * options.plant]
            ended = harness.run([python, *words], env=harness.environment(python, **harness.AUDIT), timeout=left * 3 + fuzzer.patience)
            out = ended.stdout.decode(errors="replace")
            numbers = out.partition("\n")[0].split()
            if len(numbers) == 2:
                cases, parts = cases + int(numbers[0]), parts + int(numbers[1])
            if ended.code != 0:
                what = out.partition("\n")[2] if ended.code == 3 else ended.how() + "\n" + ended.stderr.decode(errors="replace")[-1500:]
                findings.append(keep(fuzzer, current, what, options.plant))
                print(f"seed {seed}: {findings[-1]}\n{what}", flush=True)
                if options.plant:
                    break
            seed += 1
    kind = "hypothesis" if has_hypothesis(python) else "random"
    case, part = fuzzer.counted
    print(f"{cases} {case}, {parts} {part} x {len(fuzzer.ways)} ways, {time.monotonic() - started:.0f} s, seeds {options.seed} to {seed - 1} "
          f"({kind}), corpus {len(list(fuzzer.corpus.glob('*.py')))}, commit {commit()}: {len(findings)} disagreements")
    if options.plant:
        sys.exit(0 if findings else f"{fuzzer.planted} was not found")
    sys.exit(1 if findings else 0)


def has_hypothesis(python):
    return subprocess.run([python, "-c", "import hypothesis"], capture_output=True).returncode == 0


def keep(fuzzer, current, what, plant):
    try:
        source = current.read_text(encoding="utf-8")
    except OSError:
        return "no case was being run"
    if plant:
        return f"{fuzzer.planted}, not kept"
    name = fuzzer.corpus / f"found_{hashlib.sha256(source.encode()).hexdigest()[:10]}.py"
    name.write_text("".join(f"# {line}\n" for line in what.strip().splitlines()[:8]) + source, encoding="utf-8")
    return str(name.relative_to(harness.ROOT))


def commit():
    out = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=harness.ROOT, capture_output=True, text=True)
    return out.stdout.strip() or "unknown"


def replay(fuzzer, python):
    """Each case of the corpus in a process of its own."""
    files, failed = sorted(fuzzer.corpus.glob("*.py")), 0
    for file in files:
        ended = harness.run([python, fuzzer.file, "--one", file], env=harness.environment(python, **harness.AUDIT), timeout=fuzzer.seconds_per_case)
        if ended.code != 0:
            failed += 1
            print(f"{file.name}: {ended.how()}\n{ended.stdout.decode(errors='replace')}{ended.stderr.decode(errors='replace')[-1500:]}")
    print(f"{len(files) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not files else 0)
