"""One process of a measurement by apps.py: runs a program for some seconds, and prints one JSON
line.

    python -P benches/apps_child.py ENTRY SECONDS

ENTRY is the program's entry of apps.toml as JSON, with its name. Times are those of values, one
unit of work after the other; they exclude start-up and import. This file itself does little, since
it is also monitored in a run with the JIT.
"""

import hashlib
import json
import sys
import time
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEAST_VALUES = 4


def main():
    entry, seconds = json.loads(sys.argv[1]), float(sys.argv[2])
    value = (of_pyperformance if "pyperformance" in entry else our_own)(entry)
    first, answer = value()
    times, total = [first], first
    while total < seconds or (len(times) < LEAST_VALUES and seconds > 0):
        took, again = value()
        times.append(took)
        total += took
        if again != answer:
            sys.exit(f"answers differ between values: {answer!r:.200} and {again!r:.200}")
    later = times[len(times) // 2:]
    print("\n" + json.dumps({
        "program": entry["name"], "digest": hashlib.sha256(repr(answer).encode()).hexdigest()[:16], "values": len(times),
        "first_s": first, "first_second": work_within(times, min(1.0, seconds)), "first_five": work_within(times, min(5.0, seconds)),
        "steady_s": min(later), "end_mb": memory("VmRSS"), "peak_mb": memory("VmHWM"),
        "by_second": [round(work_within(times, second + 1.0) - work_within(times, float(second)), 2) for second in range(int(total))],
    }))


def our_own(entry):
    """The program's `work`, which returns the same answer each time."""
    import importlib.util

    name = "app_" + entry["name"]
    spec = importlib.util.spec_from_file_location(name, HERE / "apps" / f"{entry['name']}.py")
    program = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    work, clock = program.work, time.perf_counter

    def value():
        started = clock()
        answer = work()
        return clock() - started, answer

    return value


def of_pyperformance(entry):
    """The function that a program of pyperformance passes to pyperf; the program runs as
    `__main__`. Its answer is unknown."""
    import importlib.util

    folder = Path(importlib.util.find_spec("pyperformance").origin).parent / "data-files" / "benchmarks" / entry["pyperformance"]
    script = str(folder / "run_benchmark.py")
    sys.modules["pyperf"] = Runner.module()
    sys.path.insert(0, str(folder))
    sys.argv = [script, *entry.get("args", [])]
    with open(script, encoding="utf-8") as file:
        code = compile(file.read(), script, "exec")
    exec(code, {"__name__": "__main__", "__file__": script})
    loops = entry.get("loops", 1)
    took = Runner.registered[0]
    return lambda: (took(loops), None)


class Runner:
    """Replaces pyperf's runner: records the function to measure."""

    registered = []

    def __init__(self, **options):
        import argparse

        self.metadata, self.argparser = {}, argparse.ArgumentParser()

    def parse_args(self):
        return self.argparser.parse_args()

    def bench_time_func(self, name, function, *args, inner_loops=None):
        self.registered.append(lambda loops: function(loops, *args))

    def bench_func(self, name, function, *args, inner_loops=None):
        clock = time.perf_counter

        def took(loops):
            started = clock()
            for _ in range(loops):
                function(*args)
            return clock() - started

        self.registered.append(took)

    @classmethod
    def module(cls):
        module = types.ModuleType("pyperf")
        module.Runner, module.perf_counter = cls, time.perf_counter
        return module


def work_within(times, seconds):
    """Number of values done in the first `seconds`; an unfinished one counts by its share."""
    done, left = 0, seconds
    for took in times:
        if took > left:
            return done + left / took
        left -= took
        done += 1
    return done


def memory(name):
    """This process's resident memory in megabytes; `ru_maxrss` includes the memory of the parent
    process."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


if __name__ == "__main__":
    main()
