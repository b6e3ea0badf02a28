"""Shared by the runners of jit-tests/ and benches/: finding a Python, running a child, reading its
statistics, showing coverage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "hosts" / "cpython" / "python"
#: The versions that may be tested. Without a request, the first one is searched for.
WANTED = ((3, 13), (3, 14), (3, 15))
#: Every variable that could turn the JIT on or off in a child by accident.
VARIABLES = ("CLADONIA_ON", "CLADONIA_OFF", "CLADONIA_THRESHOLD", "CLADONIA_FORCE_EXIT", "CLADONIA_ORACLE",
             "CLADONIA_WITHOUT", "CLADONIA_CHECK_FACTS", "CLADONIA_COMPILE_THREADS", "CLADONIA_DELAY", "CLADONIA_STATS")
LEAST_COVERAGE = 0.9
#: Requests an audit of references in all compiled code.
AUDIT = {"CLADONIA_VERIFY": "references"}
#: An internal error that is not a fault.
FULL = "code memory is full"


def find_python(given: str | None = None) -> str:
    """The Python to test: the requested one, the virtual environment of the scripts, or any 3.13
    that is found."""
    venv = ROOT / ".venv" / "bin" / "python"
    choices = [given] if given else [str(venv), os.environ.get("PYTHON"), sys.executable, "python3.13", "python3"]
    for choice in choices:
        if choice and _version(choice) in (WANTED if given else WANTED[:1]):
            # Children run in other folders, so a relative path must become absolute. (A link stays
            # a link: it may be an environment's.)
            return os.path.abspath(choice) if os.path.dirname(choice) else choice
    asked = f"{given} is not" if given else "there is no"
    wanted = " or ".join("%d.%d" % each for each in (WANTED if given else WANTED[:1]))
    sys.exit(f"{asked} CPython {wanted}; give one with --python")


def _version(python):
    try:
        out = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    except OSError:
        return None
    return tuple(map(int, out.stdout.split())) if out.returncode == 0 else None


def environment(python: str, **extra: str) -> dict[str, str]:
    """A child's environment: none of our variables unless given, a fixed hash seed, no
    machine-code cache, and the package's source if it is not installed."""
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    env["PYTHONHASHSEED"] = "0"
    # No run depends on files of an earlier one.
    env["CLADONIA_CACHE"] = "off"
    # Versions that are not supported yet are tested too.
    env["CLADONIA_EXPERIMENTAL"] = "1"
    env.pop("PYTHONPATH", None)
    if not installed(python):
        env["PYTHONPATH"] = str(PACKAGE)
    env.update(extra)
    return env


_known: dict[str, bool] = {}


def installed(python: str) -> bool:
    """True if the package is installed in `python`, and not only in the source tree."""
    if python not in _known:
        code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('cladonia') is None)"
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        _known[python] = subprocess.run([python, "-P", "-c", code], env=env).returncode == 0
    return _known[python]


def unavailable(python: str) -> str | None:
    """The reason why the JIT can't work in `python`; None if it can."""
    code = "import cladonia; print(cladonia.available() or '')"
    out = subprocess.run([python, "-P", "-c", code], env=environment(python), capture_output=True, text=True)
    if out.returncode != 0:
        return (out.stderr.strip().splitlines() or [f"exit code {out.returncode}"])[-1]
    return out.stdout.strip() or None


@dataclass
class Ended:
    """The end of a child process."""

    stdout: bytes
    stderr: bytes
    code: int | None  # None when it ran out of time
    seconds: float
    stats: dict = field(default_factory=dict)

    @property
    def crash(self) -> str | None:
        """The signal that killed it, by name."""
        if self.code is None or self.code >= 0:
            return None
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"

    def how(self) -> str:
        if self.code is None:
            return f"no end after {self.seconds:.0f} s"
        return f"CRASH {self.crash}" if self.crash else f"exit code {self.code}"


# A shell's background jobs ignore SIGINT, and so would their children: the suites have cases that
# send it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run(command, *, env, timeout, cwd=None, stats: Path | None = None, stdin=None) -> Ended:
    """Run a child in a process group of its own, so that running out of time ends its children
    too."""
    started = time.monotonic()
    child = subprocess.Popen(
        list(map(str, command)), env=env, cwd=cwd, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True)
    code = None
    try:
        out, err = child.communicate(timeout=timeout)
        code = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
    ended = Ended(out, err, code, time.monotonic() - started)
    if stats is not None:
        ended.stats = read_stats(stats)
    return ended


def read_stats(file: Path) -> dict:
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {}


class Coverage:
    """Coverage summed over many processes, and the lines that show it."""

    COUNTS = ("functions_eligible", "functions_compiled", "units_entered", "native_calls", "interpreted_calls",
              "native_loop_iterations", "interpreted_loop_iterations")
    FORCED = ("guards", "taken", "never_reached")

    def __init__(self):
        self.counts = dict.fromkeys(self.COUNTS + self.FORCED, 0)
        self.oracle = {"units": 0, "entries": 0}
        self.refusals: dict[str, int] = {}
        self.processes = 0
        self.off = 0
        self.silent = 0
        self.builds: set[str] = set()

    def add(self, stats: dict) -> None:
        self.processes += 1
        if not stats:  # It crashed, was killed, or called os._exit.
            self.silent += 1
            return
        if stats.get("available"):
            self.off += 1
            return
        self.builds.add(stats.get("build", "unknown"))
        coverage = stats.get("coverage", {})
        for name in self.COUNTS:
            self.counts[name] += coverage.get(name, 0) or 0
        for name in self.FORCED:
            value = stats.get(name, coverage.get(name, 0)) or 0
            self.counts[name] += value if isinstance(value, int) else len(value)
        for name in self.oracle:
            self.oracle[name] += stats.get("oracle", {}).get(name, 0)
        for reason, count in refusals(stats).items():
            self.refusals[reason] = self.refusals.get(reason, 0) + count

    @property
    def share_compiled(self) -> float | None:
        eligible = self.counts["functions_eligible"]
        return self.counts["functions_compiled"] / eligible if eligible else None

    @property
    def shows_something(self) -> bool:
        share = self.share_compiled
        return self.off == self.silent == 0 and share is not None and share >= LEAST_COVERAGE

    def report(self) -> dict:
        return {**self.counts, "refusals": self.refusals, "processes": self.processes, "processes_with_jit_off": self.off, "processes_silent": self.silent}

    def lines(self, most_reasons: int = 12) -> list[str]:
        c = self.counts
        out = [
            f"coverage: {c['functions_compiled']} of {c['functions_eligible']} eligible functions compiled"
            f"{_percent(c['functions_compiled'], c['functions_eligible'])}, {c['units_entered']} entries into units",
            f"  calls native: {_share(c['native_calls'], c['interpreted_calls'])}; "
            f"loop iterations native: {_share(c['native_loop_iterations'], c['interpreted_loop_iterations'])}",
        ]
        if self.builds:
            out.append(f"  Cladonia's build: {' and '.join(sorted(self.builds))}")
        if self.oracle["units"]:
            out.append(f"  in the LIR interpreter: {self.oracle['units']} units, {self.oracle['entries']} entries; left out: what is "
                       "refused below and what was not hot (Python's interpreter), and entry stubs (machine code)")
        if c["guards"]:
            out.append(f"  forced exits: {c['guards']} guards, {c['taken']} taken, {c['never_reached']} never reached")
        worst = sorted(self.refusals.items(), key=lambda item: (-item[1], item[0]))
        out += [f"  refused {count:5}  {reason}" for reason, count in worst[:most_reasons]]
        if len(worst) > most_reasons:
            out.append(f"  and {len(worst) - most_reasons} more reasons")
        if self.silent:
            out.append(f"  no statistics from {self.silent} of {self.processes} processes, which did not end in the usual way")
        if self.off:
            out.append(f"  the JIT was off in {self.off} of {self.processes} processes: this run shows nothing about it")
        elif not self.shows_something:
            out.append(f"  fewer than {LEAST_COVERAGE:.0%} of the eligible functions compiled: this run shows nothing")
        return out


def refusals(stats: dict) -> dict[str, int]:
    """Refusals by reason, for both forms of the native module's statistics."""
    given = stats.get("coverage", {}).get("refusals") or stats.get("refused") or {}
    if isinstance(given, dict):
        return {str(k): v if isinstance(v, int) else v.get("count", 1) if isinstance(v, dict) else len(v) for k, v in given.items()}
    out: dict[str, int] = {}
    for row in given:
        reason = row.get("reason", "?") if isinstance(row, dict) else str(row)
        out[reason] = out.get(reason, 0) + (row.get("count", 1) if isinstance(row, dict) else 1)
    return out


def faults(stats: dict) -> list[str]:
    """Errors that the compiler has found in its own work: the function is refused, and the program
    runs all the same."""
    return [reason for reason in refusals(stats) if reason.startswith("internal:") and FULL not in reason]


def unfinished(stats: dict) -> list[str]:
    """Errors in the statistics written at exit of a program without running or suspended
    activations: all units have been invalidated by then, and each entry into them is over."""
    waiting = stats.get("waiting", 0)
    return [f"{waiting} units still count an activation at the end"] if waiting else []


def _percent(part, whole):
    return f" ({part / whole:.1%})" if whole else ""


def _share(native, interpreted):
    return f"{native} of {native + interpreted}{_percent(native, native + interpreted)}"
