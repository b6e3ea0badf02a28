"""The cost of Cladonia before the program's first line, in milliseconds per process.

Processes are fresh and alternate. Processor time decides, as the minimum of all rounds: other load
on the machine can only add to times of this size.

    python benches/startup.py [--python P] [--rounds N] [--check]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "jit-tests"))
import harness

MOST_MS = 10.0
#: The commands that are timed, and the ones that they are compared with.
WAYS = {
    "python -c pass": ([], "pass", None),
    "import cladonia": ([], "import cladonia", "python -c pass"),
    "and load the native module": ([], "import cladonia; cladonia.available()", "python -c pass"),
    "and enable()": ([], "import cladonia; cladonia.enable()", "python -c pass"),
    "python -m cladonia -c pass": (["-m", "cladonia"], "pass", "python -c pass"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--check", action="store_true", help=f"exit code 1 if importing costs {MOST_MS:.0f} ms or more")
    options = parser.parse_args()
    python = harness.find_python(options.python)
    reason = harness.unavailable(python)
    if reason:
        print(f"note: the JIT can't work in {python}: {reason}")
    env = harness.environment(python)
    times = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way, (words, code, _) in WAYS.items():
            times[way].append(processor_ms([python, *words, "-c", code], env))
    least = {way: min(values) for way, values in times.items()}
    for way, (_, _, base) in WAYS.items():
        more = f"  {least[way] - least[base]:+6.1f} ms" if base else ""
        print(f"{way:30}{least[way]:7.1f} ms{more}")
    cost = least["import cladonia"] - least["python -c pass"]
    if options.check and cost >= MOST_MS:
        sys.exit(f"importing cladonia costs {cost:.1f} ms; it must stay under {MOST_MS:.0f}")


def processor_ms(command, env):
    child = subprocess.Popen(command, env=env)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {child.returncode}")
    return (used.ru_utime + used.ru_stime) * 1000


if __name__ == "__main__":
    main()
