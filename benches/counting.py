"""How many instructions a process executes, with what the machine has: hardware counters through `perf`, or valgrind."""

from __future__ import annotations

import re
import subprocess

import harness


def perf_counts():
    """Whether `perf stat` counts user-mode instructions here; virtual machines often have no counters."""
    try:
        out = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
    except OSError:
        return False
    return out.stderr.split(",")[0].strip().isdigit()


def under_callgrind(command, folder):
    """The command that runs `command` under valgrind, which sees code that is written as it runs."""
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind", "--smc-check=all-non-file", *command]


def collected(ended: harness.Ended):
    """The instructions that callgrind saw in a process; None if it failed."""
    found = re.search(rb"Collected : (\d+)", ended.stderr)
    return int(found[1]) if found and ended.code == 0 else None
