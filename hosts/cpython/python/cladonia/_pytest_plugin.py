"""A pytest plugin: `pytest --cladonia` runs a suite without the JIT and with it, and compares
outcomes and times.

Both runs are processes of their own with the same options; `--cladonia-rounds N` repeats them
alternately and takes the fastest time of each test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

#: The file to which a compared run writes its tests' times: a variable, since the plugin is loaded
#: there as well.
RECORD = "CLADONIA_PYTEST_RECORD"
#: Tests that differ by less are not listed.
LEAST_SECONDS = 0.01
MOST_LISTED = 10


def pytest_addoption(parser):
    group = parser.getgroup("cladonia")
    group.addoption("--cladonia", action="store_true", help="run the suite without the JIT and with it, and compare outcomes and times")
    group.addoption("--cladonia-rounds", type=int, default=1, metavar="N", help="with --cladonia: number of runs with and without the JIT, alternately (1)")


def pytest_configure(config):
    if os.environ.get(RECORD):
        config.pluginmanager.register(Recorder(os.environ[RECORD]), "cladonia-recorder")


class Recorder:
    """Writes outcome and time of each test to a file."""

    def __init__(self, file):
        self._file = file
        self._tests = {}

    def pytest_runtest_logreport(self, report):
        test = self._tests.setdefault(report.nodeid, {"seconds": 0.0, "outcome": "passed"})
        if report.when == "call":
            test["seconds"] += report.duration
        if report.outcome != "passed":
            test["outcome"] = report.outcome

    def pytest_sessionfinish(self):
        # Workers of pytest-xdist pass their reports to the process that started them.
        if "PYTEST_XDIST_WORKER" not in os.environ:
            with open(self._file, "w", encoding="utf-8") as out:
                json.dump(self._tests, out)


def pytest_cmdline_main(config):
    if not config.getoption("--cladonia") or os.environ.get(RECORD):
        return None
    rounds = config.getoption("--cladonia-rounds")
    if rounds < 1:
        import pytest

        raise pytest.UsageError("--cladonia-rounds must be at least 1")
    words = _without_ours(config.invocation_params.args)
    runs = {"off": [], "on": []}
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for way in ("off", "on") if number % 2 == 0 else ("on", "off"):
                print(f"cladonia: run {number + 1} of {rounds}, {'with' if way == 'on' else 'without'} the JIT", flush=True)
                tests, status = _run(words, way, os.path.join(folder, f"{way}{number}.json"), config.invocation_params.dir)
                if tests is None:
                    print(f"cladonia: the run {way} ended early, with status {status}", file=sys.stderr)
                    return status or 1
                runs[way].append(tests)
                worst = max(worst, status)
    differ = report(runs["off"], runs["on"])
    return worst or (1 if differ else 0)


def _without_ours(words):
    kept, skip = [], False
    for word in map(str, words):
        if skip:
            skip = False
        elif word == "--cladonia-rounds":
            skip = True
        elif word != "--cladonia" and not word.startswith("--cladonia-rounds="):
            kept.append(word)
    return kept


def _run(words, way, file, folder):
    env = {name: value for name, value in os.environ.items() if name not in ("CLADONIA_ON", "CLADONIA_OFF")}
    env[RECORD] = file
    command = [sys.executable, "-m", *(["cladonia", "-m"] if way == "on" else []), "pytest", *words]
    if way == "off":
        env["CLADONIA_OFF"] = "1"
    status = subprocess.run(command, env=env, cwd=folder).returncode
    try:
        with open(file, encoding="utf-8") as read:
            return json.load(read), status
    except OSError:
        return None, status


def report(off, on):
    """Print the comparison of the runs with and without the JIT. Return True if an outcome
    differs."""
    def fastest(runs):
        names = set.intersection(*(set(run) for run in runs))
        return {name: min(run[name]["seconds"] for run in runs) for name in names}

    outcomes = [{name: {run[name]["outcome"] for run in runs if name in run} for run in runs for name in run} for runs in (off, on)]
    differ = sorted(name for name in {**outcomes[0], **outcomes[1]} if outcomes[0].get(name) != outcomes[1].get(name))
    times = fastest(off), fastest(on)
    both = sorted(set(times[0]) & set(times[1]))
    total = [sum(way[name] for name in both) for way in times]
    ratio = total[0] / total[1] if total[1] else 1.0
    print(f"\ncladonia: {len(both)} tests took {total[0]:.2f} s without the JIT and {total[1]:.2f} s with it: {ratio:.2f}x (calls of tests, "
          "set-up aside; a test that runs once mostly measures compiling)")
    apart = sorted((name for name in both if abs(times[0][name] - times[1][name]) >= LEAST_SECONDS), key=lambda name: times[1][name] - times[0][name])
    for title, names in (("faster", [n for n in apart if times[1][n] < times[0][n]][:MOST_LISTED]),
                         ("slower", [n for n in apart if times[1][n] > times[0][n]][::-1][:MOST_LISTED])):
        if names:
            print(f"cladonia: {title}:")
            for name in names:
                print(f"  {times[0][name]:8.3f} s {times[1][name]:8.3f} s {times[0][name] / max(times[1][name], 1e-9):6.2f}x  {name}")
    for name in differ:
        said = [" or ".join(sorted(way.get(name, {"not run"}))) for way in outcomes]
        print(f"cladonia: the outcome differs: {name}: {said[0]} without, {said[1]} with the JIT")
    return bool(differ)
