"""Everyday idioms, one function each: the first call and the best later one, with the JIT off and
on.

    python benches/idioms.py [--python P] [--seconds S] [--file FILE] [--beside P] [NAME ...]

The functions are those of `benches/programs/idioms.py`, or of another file that answers to `--list`
and to `NAME SECONDS`: it prints the answer, and the two times in seconds on stderr.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jit-tests"))
import harness


def timed(command, environment):
    """The answer, and the times of the first call and of the best later one."""
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    times = run.stderr.split()[-2:]
    try:
        first, later = map(float, times)
    except ValueError:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{run.stderr}") from None
    return run.stdout, first, later


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python")
    parser.add_argument("--seconds", type=float, default=0.6, help="how long each function is called")
    parser.add_argument("--file", type=Path, default=HERE / "programs" / "idioms.py")
    parser.add_argument("--beside", help="another Python to measure, such as PyPy")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    python = harness.find_python(options.python)
    environment = harness.environment(python)
    script = [str(options.file)]
    listed = subprocess.run([python, *script, "--list"], capture_output=True, text=True, env=environment, check=True)
    names = options.names or listed.stdout.split()
    reason = harness.unavailable(python)
    if reason:
        print(f"note: the JIT can't work in {python}: {reason}")
    print(f"{python}, {options.seconds:g} s each; above 1 is faster than without the JIT")
    firsts, laters, wrong = [], [], []
    for name in names:
        call = [*script, name, str(options.seconds)]
        answer, first, later = timed([python, *call], environment)
        given, jit_first, jit_later = timed([python, "-m", "cladonia", *call], environment)
        firsts.append(first / jit_first)
        laters.append(later / jit_later)
        line = f"{name:24} first call {firsts[-1]:6.2f}  steady {laters[-1]:7.2f}"
        if options.beside:
            line += f"  {Path(options.beside).name} {later / timed([options.beside, *call], environment)[2]:7.2f}"
        if given != answer:
            wrong.append(name)
            line += "  ANOTHER ANSWER"
        print(line, flush=True)
    print(f"{'geometric mean':24} first call {mean(firsts):6.2f}  steady {mean(laters):7.2f}")
    if wrong:
        raise SystemExit(f"another answer with the JIT: {' '.join(wrong)}")


if __name__ == "__main__":
    main()
