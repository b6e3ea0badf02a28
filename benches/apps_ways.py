"""Shared by the parts of apps.py: commands with and without the JIT, bars, and memory figures."""

from __future__ import annotations

import contextlib
import math
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jit-tests"))
import harness

WAYS = ("off", "jit")
#: Variables of the machine's environment that would distort the start of a process.
DISTORTING = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONOPTIMIZE", "PYTHONDEVMODE", "PYTHONMALLOC")


class Ways:
    """One interpreter, without the JIT and with it: its commands and environments."""

    def __init__(self, python, packages=None, jit_options=(), warm=False):
        self.python = python
        self.packages = packages
        self.jit_options = list(jit_options)
        self.warm = warm
        self._kept = tempfile.TemporaryDirectory()

    def command(self, way, words, stats=None):
        ours = ["-m", "cladonia", *(["--stats", stats] if stats else []), *self.jit_options] if way == "jit" else []
        return [self.python, "-P", *ours, *words]

    @contextlib.contextmanager
    def environment(self, way, program):
        """The environment of one process. Its machine-code cache is empty, or, if `warm`, filled
        by earlier runs of this program."""
        with tempfile.TemporaryDirectory() as fresh:
            ours = {"CLADONIA_OFF": "1"} if way == "off" else {"CLADONIA_CACHE": self._kept_for(program) if self.warm else fresh}
            env = {name: value for name, value in harness.environment(self.python, **ours).items() if name not in DISTORTING}
            if self.packages:
                env["PYTHONPATH"] = ":".join(filter(None, [env.get("PYTHONPATH"), self.packages]))
            yield env

    def _kept_for(self, program):
        folder = Path(self._kept.name, program)
        folder.mkdir(exist_ok=True)
        return str(folder)

    def run(self, way, program, words, timeout, stats=False):
        """One process. Only one with the JIT has statistics."""
        with tempfile.TemporaryDirectory() as folder, self.environment(way, program) as env:
            file = Path(folder, "stats.json") if stats and way == "jit" else None
            return harness.run(self.command(way, words, file), env=env, timeout=timeout, stats=file, cwd=folder)

    def missing(self, modules):
        """The modules that can't be imported."""
        code = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))"
        with self.environment("off", "") as env:
            out = subprocess.run([self.python, "-P", "-c", code, *modules], env=env, capture_output=True, text=True, check=True)
        return set(out.stdout.split())


@dataclass(frozen=True)
class Bar:
    """Minimum for the mean and for each single figure; None without a bar. For memory, a
    maximum."""

    key: str
    title: str
    mean: float | None = None
    each: float | None = None
    more_is_worse: bool = False

    def missed(self, value, bar):
        return bar is not None and (value > bar if self.more_is_worse else value < bar)

    def worst(self, rows):
        return (max if self.more_is_worse else min)(rows, key=lambda row: row[self.key])

    def line(self, rows, things):
        """The mean and the worst of rows, with the bars; true if one was missed."""
        mean, worst = geometric_mean([row[self.key] for row in rows]), self.worst(rows)
        below = self.missed(mean, self.mean) or self.missed(worst[self.key], self.each)
        shown = f"{mean:.2f}x" + (f" (bar {self.mean}x)" if self.mean else "")
        least = f"{worst[self.key]:.2f}x" + (f" (bar {self.each}x)" if self.each else "")
        return f"{self.title:14}{shown:18} worst {worst[things]}: {least}{'  BELOW' if below else ''}", below


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def last_line(ended):
    """The last line of a process on stderr."""
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def memory_of(pid):
    """Resident and proportional memory of another process, in megabytes."""
    found = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, size, _ = line.split()
        found[name.rstrip(":")] = int(size) / 1024
    return found["Rss"], found["Pss"]
