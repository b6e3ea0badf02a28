"""Counts the instructions that a process executes: hardware counters through `perf`, or
valgrind."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import harness

EVENTS = ["-x,", "-e", "instructions:u"]


def perf_counts():
    """True if `perf stat` counts user-mode instructions here; virtual machines often have no
    counters."""
    try:
        out = subprocess.run(["perf", "stat", *EVENTS, "true"], capture_output=True, text=True)
    except OSError:
        return False
    return out.stderr.split(",")[0].strip().isdigit()


def under(tool, command, folder):
    """The command that runs `command` under `perf`, or under `callgrind` with support for
    generated code."""
    if tool == "perf":
        return ["perf", "stat", *EVENTS, "-o", f"{folder}/perf", *command]
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind", "--smc-check=all-non-file", *command]


def collected(tool, ended: harness.Ended, folder):
    """The instructions that the tool has counted in a process; None if that failed."""
    if tool == "perf":
        found = re.search(r"^(\d+),", Path(folder, "perf").read_text(), re.M)
    else:
        found = re.search(rb"Collected : (\d+)", ended.stderr)
    return int(found[1]) if found and ended.code == 0 else None
