"""Prints the cost of compiling: microseconds per bytecode, by stage, shape and size of functions.

    python benches/compile_time.py [--python P] [--shape NAME]... [--sizes 100,1000] [--passes] [--laps N] [--check]

Each function is warmed up interpreted, then compiled whole; several copies are compiled, and the
fastest one counts (in processor time). `growth` is the cost per bytecode relative to the smallest
size: 1.00 is linear. With --check, a missed bar is an error: 12 ms at 1,000 bytecodes, growth 1.3.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jit-tests"))
import harness

SIZES = (100, 300, 1000, 3000, 10000)
MOST_MS_AT_1000 = 12.0
MOST_GROWTH = 1.3
STAGES = ("build", "optimise", "lower", "generate")

#: The statements that a function of a shape repeats; `{n}` is the number of the repetition.
SHAPES = {
    "arithmetic": ["a = (a + b) & 1023", "b = (b ^ a) - c", "c = a * 3 - b"],
    "floats": ["x = x * 0.5 + y", "y = y - x * 0.25", "z = (x + y) / 2.0 - z"],
    "branches": ["if a > {n}: b = b + 1", "else: b = b - a", "if b < c and a != {n}: c = c ^ 3"],
    "calls": ["a = add(a, 1)", "b = len(l) + a", "p.method(a)"],
    "attributes": ["p.x = p.y + p.z", "p.y = p.x", "a = p.x"],
    "items": ["l[1] = l[2] + a", "a = l[3]", "b = t[1]"],
    # Alternately: repeating the same unpacking generates no code.
    "unpackings": ["a, b, c, d, e, f, g, h, i, j = t", "j, i, h, g, f, e, d, c, b, a = t"],
    "handlers": ["try: a = l[b & 3]", "except IndexError: a = {n}"],
    "nested loops": ["for i in r:", " for j in r:", "  for k in r: a = (a + i * j - k) & 1023"],
}

#: One of each, in turn, as in a hand-written function.
SHAPES["mixed"] = [line for lines in SHAPES.values() for line in lines]

#: The arguments of a compiled copy of a function; run in the measured process.
PRELUDE = """
def add(a, b):
    return a + b

class P:
    def __init__(self):
        self.x, self.y, self.z = 1, 2, 3

    def method(self, a):
        return a

def arguments():
    return dict(a=1, b=2, c=3, x=1.0, y=2.0, z=3.0, p=P(), l=list(range(10)), t=tuple(range(10)), r=range(2))
"""


def main():
    options = arguments()
    if options.child:
        return child(*json.loads(options.child))
    python = harness.find_python(options.python)
    reason = harness.unavailable(python)
    if reason:
        sys.exit(f"the JIT can't work in {python}: {reason}")
    print("microseconds per bytecode")
    print(f"{'shape':14}{'bytecodes':>10}{'ms':>10}{'total':>8}" + "".join(f"{stage:>10}" for stage in STAGES) + f"{'growth':>8}")
    missed, rows = [], []
    for shape in options.shape or SHAPES:
        first = None
        for size in options.sizes:
            row = measure(python, shape, size, options)
            if "refused" in row:
                print(f"{shape:14}{size:>10}  {row['refused']}")
                missed.append(f"{shape} of {size} is refused")
                continue
            count, ms = row["bytecodes"], row["ms"]
            each = ms * 1e3 / count
            first = first or each
            row["growth"] = each / first
            stages = "".join(f"{row['stages'].get(stage, 0) * 1e3 / count:>10.2f}" for stage in STAGES)
            print(f"{shape:14}{count:>10}{ms:>10.2f}{each:>8.2f}{stages}{row['growth']:>8.2f}", flush=True)
            if options.passes:
                passes = sorted(row["passes"].items(), key=lambda item: -item[1])
                print("    " + "  ".join(f"{name} {took * 1e3 / count:.2f}" for name, took in passes))
            rows.append({"shape": shape, **row})
            if ms > MOST_MS_AT_1000 * max(1.0, count / 1000) * MOST_GROWTH or (size == 1000 and ms > MOST_MS_AT_1000):
                missed.append(f"{shape} of {count}: {ms:.1f} ms")
            if row["growth"] > MOST_GROWTH:
                missed.append(f"{shape} of {count}: {row['growth']:.2f} times linear")
    for miss in missed:
        print("BELOW", miss)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(1 if options.check and missed else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python")
    parser.add_argument("--shape", action="append", default=[], choices=SHAPES)
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=SIZES)
    parser.add_argument("--laps", type=int, default=5, help="how many copies of a function are compiled")
    parser.add_argument("--passes", action="store_true", help="print what each pass of `optimise` costs")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a bar is missed")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(python, shape, size, options):
    """One row: a fresh process compiles copies of a function, of which the fastest counts."""
    child = json.dumps([shape, size, options.laps])
    out = subprocess.run([python, "-P", __file__, "--child", child], env=harness.environment(python), capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"{shape} of {size}:\n{out.stderr}")
    return json.loads(out.stdout)


def source(shape, size):
    """A function of this shape, of about `size` bytecodes, and its number of bytecodes."""
    def written(n):
        lines = ["def f(a, b, c, x, y, z, p, l, t, r):"]
        for k in range(n):
            lines += ["    " + line.format(n=k) for line in SHAPES[shape]]
        return "\n".join([*lines, "    return a, b, c, x, y, z"])

    def count(n):
        import dis
        names = {}
        exec(written(n), names)
        return sum(1 for _ in dis.get_instructions(names["f"]))
    fixed, each = count(0), count(2) - count(1)
    n = max(1, round((size - fixed) / each))
    return written(n), count(n)


def child(shape, size, laps):
    import cladonia

    text, count = source(shape, size)
    best = None
    cladonia.enable(threshold=1 << 30)
    for _ in range(laps):
        names = {}
        exec(PRELUDE + text, names)
        for _ in range(12):
            names["f"](**names["arguments"]())
        before = cladonia.stats()
        started = time.process_time()
        try:
            cladonia.compile(names["f"])
        except cladonia.NotCompiled as refusal:
            print(json.dumps({"refused": str(refusal)}))
            return
        ms = (time.process_time() - started) * 1e3
        after = cladonia.stats()
        # The stages are timed by wall clock; time that the process did not run is subtracted in
        # proportion.
        share = ms / (after["compile_ms"] - before["compile_ms"])
        times = {key: {name: share * (after[key][name] - before[key].get(name, 0.0)) for name in after[key]} for key in ("stages_ms", "passes_ms")}
        if best is None or ms < best["ms"]:
            best = {"bytecodes": count, "ms": ms, "stages": times["stages_ms"], "passes": times["passes_ms"]}
        names["f"](**names["arguments"]())
        if ms > 2000:
            break
    print(json.dumps(best))


main()
