"""One process of a measurement: runs one program of programs.toml several times and prints one JSON
line.

    python benches/child.py NAME [--laps N] [--shrink N]

cold_s is the first iteration, steady_s the median of the later half.
"""

import argparse
import hashlib
import json
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--laps", type=int, help="iterations, instead of the table's")
    parser.add_argument("--shrink", type=int, default=1, help="divide each size by this (the answer is then not the table's)")
    options = parser.parse_args()
    with open(HERE / "programs.toml", "rb") as file:
        entry = tomllib.load(file)["program"][options.name]
    sizes = [max(2, size // options.shrink) if size >= 100 else size for size in entry["sizes"]]
    laps = options.laps or entry["laps"]
    source = HERE / "programs" / entry["file"]
    code = compile(source.read_text(encoding="utf-8"), str(source), "exec")
    if entry["entry"] == "module":
        answer, times = module(code, sizes, laps)
    else:
        answer, times = function(code, entry["entry"], sizes, laps)
    later = sorted(times[len(times) // 2:])
    print(json.dumps({
        "program": options.name, "digest": digest(answer), "cold_s": times[0], "steady_s": later[len(later) // 2],
        "total_s": sum(times), "laps": laps,
    }))


def function(code, entry, sizes, laps):
    clock = time.perf_counter
    namespace = {"__name__": "program"}
    exec(code, namespace)
    run = namespace[entry]
    answer, times = None, []
    for _ in range(laps):
        started = clock()
        result = run(*sizes)
        times.append(clock() - started)
        if answer is not None and result != answer:
            sys.exit(f"answers differ between iterations: {answer!r} and {result!r}")
        answer = result
    return answer, times


def module(code, sizes, laps):
    """Runs a program that is module-level code and times itself."""
    namespace = {"__name__": "program", "laps": laps, "size": sizes[0], "clock": time.perf_counter}
    exec(code, namespace)
    return namespace["answer"], namespace["times"]


def digest(answer):
    return hashlib.sha256(repr(answer).encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
