"""Machine code that one process stores for the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

import cladonia
import harness
from cladonia import _options
from support import InFolder, WithRecorder, child, needs_jit

#: Prints its results; then waits until all generated code is written, or until nothing more is.
PROGRAM = """\
    import time
    import cladonia

    class Point:
        def __init__(self, x, y):
            self.x = x
            self.y = y

        def plus(self, other):
            return Point(self.x + other.x, self.y - other.y)

    class Shifted(Point):
        def plus(self, other):
            return Point(self.x + other.y, self.y)

    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def walk(points):
        at = Point(0, 0)
        for p in points:
            at = p.plus(at)
        return at.x, at.y

    def numbers(n):
        for i in range(n):
            yield {"a": i, "b": str(i)}

    def text(n):
        return sum(len(d["b"]) + d["a"] % 3 for d in numbers(n))

    points = [Point(i, i) if i % 3 else Shifted(i, 2) for i in range(300)]
    for _ in range(150):
        result = fib(12), walk(points), text(60)
    print(*result)
    end = time.monotonic() + 5
    counts = None
    while time.monotonic() < end:
        time.sleep(0.1)
        before, counts = counts, cladonia.stats()["cache"]
        if counts == before:
            break
"""

#: Options that make each run compile the same, without a clock.
SAME = ("-m", "cladonia", "--threshold", "40")


@needs_jit
class AcrossProcesses(InFolder):
    def setUp(self):
        super().setUp()
        self.program = self.write("program.py", PROGRAM)
        self.cache = self.folder / "cache"

    def run_once(self, *words, **variables):
        """The output of a process, and its statistics of the cache."""
        # The profile of a function at the time its unit is ready must be deterministic.
        variables = {"CLADONIA_CACHE": str(self.cache), "CLADONIA_DELAY": "next", **variables}
        stats = self.folder / "stats.json"
        done = child(*SAME, "--stats", stats, *words, self.program, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout, json.loads(stats.read_text())["cache"]

    def files(self):
        return sorted(path for path in self.cache.rglob("*") if path.is_file())

    def test_a_second_process_finds_what_the_first_has_generated(self):
        expected = child(self.program, CLADONIA_OFF="1").stdout
        first, cold = self.run_once()
        files = len(self.files())
        second, warm = self.run_once()
        self.assertEqual((first, second), (expected, expected))
        self.assertEqual((cold["units_found"], cold["found"], cold["errors"]), (0, 0, 0))
        self.assertGreater(cold["units_missed"], 3)
        self.assertLessEqual(abs(cold["stored"] - files), 2)
        self.assertGreater(cold["bytes"], 1000)
        self.assertGreaterEqual(warm["units_found"], 0.8 * (warm["units_found"] + warm["units_missed"]))
        self.assertEqual(warm["errors"], 0)

    def test_hashes_and_addresses_are_others_in_each_process(self):
        self.run_once(PYTHONHASHSEED="1")
        _, warm = self.run_once(PYTHONHASHSEED="2")
        self.assertGreaterEqual(warm["units_found"], 0.8 * (warm["units_found"] + warm["units_missed"]))

    def test_the_folder_is_the_user_s_alone(self):
        self.run_once()
        for path in [self.cache, *self.cache.rglob("*")]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_damaged_files_cost_a_line_in_the_statistics(self):
        first, _ = self.run_once()
        for number, path in enumerate(self.files()):
            content = bytearray(path.read_bytes())
            if number % 2:
                content[number * 37 % len(content)] ^= 1 << number % 8
            else:
                del content[number * 37 % len(content):]
            path.write_bytes(content)
        second, stats = self.run_once()
        self.assertEqual(second, first)
        self.assertEqual((stats["found"], stats["units_found"]), (0, 0))
        self.assertGreater(stats["errors"], 3)
        self.assertIn(str(self.cache), stats["error"])
        # Damaged files are written again, all of them unless a process ends before.
        for _ in range(5):
            _, stats = self.run_once()
            if stats["errors"] == 0:
                break
        self.assertEqual(stats["errors"], 0)
        self.assertGreater(stats["found"], 3)

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        self.cache.mkdir()
        self.cache.chmod(0o777)
        _, stats = self.run_once()
        self.assertEqual((stats["found"], stats["stored"], stats["errors"]), (0, 0, 1))
        self.assertIn("others may write", stats["error"])
        self.assertEqual(self.files(), [])

    def test_a_folder_that_cannot_be_made_breaks_nothing(self):
        self.cache.write_text("")
        _, stats = self.run_once()
        self.assertEqual((stats["stored"], stats["errors"]), (0, 1))

    def test_off_is_off(self):
        _, stats = self.run_once(CLADONIA_CACHE="off")
        self.assertEqual(stats, {"folder": None, "units_found": 0, "units_missed": 0, "found": 0, "shared": 0, "missed": 0,
                                 "stored": 0, "bytes": 0, "errors": 0, "error": None})

    def test_nothing_is_made_where_nothing_is_compiled(self):
        done = child("-m", "cladonia", "-c", "print(1)", CLADONIA_CACHE=str(self.cache))
        self.assertEqual(done.stdout, "1\n")
        self.assertFalse(self.cache.exists())

    def test_what_is_to_be_generated_afresh_is(self):
        for word in ["--oracle", "--force-exit=first"]:
            _, stats = self.run_once(word)
            self.assertEqual((stats["folder"], stats["stored"]), (None, 0), word)
        self.assertFalse(self.cache.exists())

    def test_many_processes_at_once(self):
        env = harness.environment(sys.executable, CLADONIA_CACHE=str(self.cache))
        command = [sys.executable, *SAME, self.program]
        expected = child(self.program, CLADONIA_OFF="1").stdout
        for _ in range(2):
            started = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)]
            for process in started:
                self.assertEqual((process.communicate(timeout=120), process.returncode), ((expected, ""), 0))
        self.assertFalse([path for path in self.files() if path.name.startswith(".")])
        _, stats = self.run_once()
        self.assertEqual(stats["errors"], 0)

    def test_forked_children_find_and_keep(self):
        program = self.write("forks.py", """\
            import os, sys, time
            def work(n):
                total = 0
                for i in range(n):
                    total += i * n % 7
                return total
            def other(n):
                return [str(i) for i in range(n)]
            for _ in range(100):
                work(50)
            for _ in range(4):
                if os.fork() == 0:
                    for _ in range(200):
                        other(30), work(50)
                    time.sleep(0.3)
                    os._exit(0 if other(3) == ["0", "1", "2"] else 1)
            print([os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)])
        """)
        for _ in range(2):
            done = child(*SAME, program, CLADONIA_CACHE=str(self.cache))
            self.assertEqual((done.stdout, done.stderr), ("[0, 0, 0, 0]\n", ""))


class Folders(WithRecorder):
    """The location of the cache."""

    def where(self, **variables):
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        for name in ("CLADONIA_CACHE", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)
        os.environ.update(variables)
        cladonia.enable()
        self.assertEqual(self.native.calls[-1][0], "enable")
        return self.native.calls[-1][-1]

    def test_it_is_in_the_user_s_cache_folder(self):
        self.assertEqual(self.where(HOME="/home/me"), b"/home/me/.cache/cladonia")
        self.assertEqual(self.where(XDG_CACHE_HOME="/elsewhere"), b"/elsewhere/cladonia")
        # The standard says that a relative path is ignored.
        self.assertEqual(self.where(HOME="/home/me", XDG_CACHE_HOME="elsewhere"), b"/home/me/.cache/cladonia")

    def test_it_is_where_it_is_said_to_be(self):
        self.assertEqual(self.where(CLADONIA_CACHE="/my/folder"), b"/my/folder")
        self.assertEqual(self.where(CLADONIA_CACHE="folder"), os.fsencode(os.path.abspath("folder")))
        self.assertIsNone(self.where(CLADONIA_CACHE="off"))
        self.assertEqual(self.where(CLADONIA_CACHE="", HOME="/home/me"), b"/home/me/.cache/cladonia")

    def test_an_isolated_process_asks_no_variable(self):
        code = "from cladonia import _options; print(_options.cache_folder())"
        done = child("-E", "-c", f"import sys; sys.path.insert(0, {os.path.dirname(_options.__file__)!r} + '/..'); {code}",
                     CLADONIA_CACHE="/my/folder")
        self.assertNotIn("/my/folder", done.stdout)
        self.assertIn("cladonia", done.stdout)


if __name__ == "__main__":
    unittest.main()
