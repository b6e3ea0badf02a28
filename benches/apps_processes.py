"""Whole processes for apps.py: the wall time of short ones, and the memory of an idle one."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from apps_ways import HERE, WAYS, Bar, geometric_mean, last_line, memory_of
from compare import spread

ROUNDS, IDLE_ROUNDS = 20, 9
WALL = Bar("ratio", "wall time", each=0.95)
IDLE = Bar("memory", "idle memory", each=1.15, more_is_worse=True)
#: Reports that it runs, and waits for the end of its input.
WAITING = "import sys\nprint('here', flush=True)\nsys.stdin.read()"
#: Times in a program's output.
PRINTED_TIME = re.compile(rb"\d+\.\d+ ?s\b")


def processes(ways, chosen, options):
    """Each is first run once with and without the JIT, for .pyc files and for the JIT's
    statistics, and then alternately."""
    rounds, rows, failed = options.rounds or ROUNDS, [], []
    print(f"{rounds} rounds, whole processes in turn\n\n"
          f"{'process':22}{'off s':>9}{'jit s':>9}{'ratio':>9}{'compile ms':>12}{'units':>7}{'noise':>7}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        places = {"apps": str(HERE / "apps"), "json": made_json(folder)}
        for name, entry in chosen.items():
            row = measured(ways, name, [word.format(**places) for word in entry["words"]], rounds, options.timeout)
            if row is None:
                failed.append(name)
                continue
            rows.append(row)
            print(f"{name:22}{row['off_s']:9.3f}{row['jit_s']:9.3f}{row['ratio']:8.2f}x{row['compile_ms']:12.0f}{row['units']:7}{row['noise']:7.0%}"
                  f"{'  BELOW' if WALL.missed(row['ratio'], WALL.each) else ''}", flush=True)
    lines, below = [], []
    if rows:
        worst = WALL.worst(rows)
        lines.append(f"geometric mean of {len(rows)} processes {geometric_mean([row['ratio'] for row in rows]):.2f}x, worst {worst['process']} "
                     f"{worst['ratio']:.2f}x (bar {WALL.each}x)")
        below = [row["process"] for row in rows if WALL.missed(row["ratio"], WALL.each)]
    return {"rounds": rounds, "processes": rows, "lines": ["", *lines], "below": below, "failed": failed}


def made_json(folder):
    """A file for which `json.tool` takes some tenths of a second."""
    file = Path(folder, "made.json")
    records = [{"id": n, "name": f"näme {n}", "tags": ["a", "b", None, True][: n % 5], "at": {"x": n / 7, "y": [n, -n]}} for n in range(12000)]
    file.write_text(json.dumps(records))
    return str(file)


def measured(ways, name, words, rounds, timeout):
    warm_up = {way: run(ways, way, name, words, timeout, stats=True) for way in WAYS}
    ended = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in WAYS if number % 2 == 0 else WAYS[::-1]:
            ended[way].append(run(ways, way, name, words, timeout))
    everything = [*warm_up.values(), *ended["off"], *ended["jit"]]
    if None in everything:
        return None
    if len({PRINTED_TIME.sub(b"", one.stdout) for one in everything}) > 1:
        print(f"{name:22} FAILED: outputs differ", flush=True)
        return None
    seconds = {way: [one.seconds for one in some] for way, some in ended.items()}
    off, jit = (statistics.median(seconds[way]) for way in WAYS)
    stats = warm_up["jit"].stats
    return {"process": name, "off_s": off, "jit_s": jit, "ratio": off / jit,
            "compile_ms": stats.get("compile_ms", 0.0), "units": stats.get("units", 0),
            "noise": max(spread(quartiles(some)) for some in seconds.values()), "seconds": seconds}


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else values


def run(ways, way, name, words, timeout, stats=False):
    ended = ways.run(way, name, words, timeout, stats)
    if ended.code == 0:
        return ended
    print(f"{name:22} FAILED {'with' if way == 'jit' else 'without'} the JIT: {ended.how()}: {last_line(ended)}", flush=True)
    return None


def idle(ways, options):
    """Resident memory of an idle process, and its proportional share, with and without the JIT."""
    rounds, found = options.rounds or IDLE_ROUNDS, {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            found[way].append(waiting(ways, way))
    resident, shared = ({way: statistics.median(sizes[k] for sizes in some) for way, some in found.items()} for k in (0, 1))
    row = {"process": "idle", "off_mb": resident["off"], "jit_mb": resident["jit"], "memory": resident["jit"] / resident["off"],
           "off_pss_mb": shared["off"], "jit_pss_mb": shared["jit"]}
    below = IDLE.missed(row["memory"], IDLE.each)
    line = (f"idle, medians of {rounds}: {row['off_mb']:.1f} MB without, {row['jit_mb']:.1f} MB with the JIT, {row['memory']:.2f}x (bar {IDLE.each}x)"
            f"{'  BELOW' if below else ''}; proportional {row['off_pss_mb']:.1f} and {row['jit_pss_mb']:.1f} MB")
    return {"rounds": rounds, "idle": row, "lines": [line], "below": ["idle"] * below, "failed": []}


def waiting(ways, way):
    with ways.environment(way, "idle") as env:
        child = subprocess.Popen(ways.command(way, ["-c", WAITING]), env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if child.stdout.readline() != b"here\n":
                sys.exit(f"the idle process {'with' if way == 'jit' else 'without'} the JIT did not start")
            return memory_of(child.pid)
        finally:
            child.communicate()
