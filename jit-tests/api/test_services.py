"""Features for services: options from a file, lists of modules, a signal that turns the JIT off,
metrics, and inspection by another process."""

import os
import re
import signal
import stat
import subprocess
import sys
import time
import unittest

import harness
from support import InFolder, child, needs_hook, needs_jit

HOT = """\
    def spin(n):
        t = 0
        for i in range(n):
            t += i & 7
        return t
"""


class Configuration(InFolder):
    SHOW = "import os; print({k: v for k, v in os.environ.items() if k.startswith('CLADONIA_') and k not in ('CLADONIA_CACHE', 'CLADONIA_ON', 'CLADONIA_EXPERIMENTAL')})"

    def test_pyproject_gives_options_where_nothing_else_does(self):
        self.write("pyproject.toml", """\
            [tool.cladonia]
            threshold = 7
            not = ["shop.vendored", "x"]
            top = false
            """)
        said = child("-m", "cladonia", "-c", self.SHOW, cwd=self.folder)
        self.assertEqual((eval(said.stdout), said.stderr), ({"CLADONIA_THRESHOLD": "7", "CLADONIA_NOT": "shop.vendored,x", "CLADONIA_TOP": "0"}, ""))
        said = child("-m", "cladonia", "--threshold", "9", "-c", self.SHOW, cwd=self.folder)
        self.assertEqual(eval(said.stdout)["CLADONIA_THRESHOLD"], "9")

    @needs_jit
    @needs_hook
    def test_it_counts_where_the_variable_turns_the_jit_on_and_can_keep_it_off(self):
        show = "import cladonia; print(cladonia.live()['on'])"
        self.write("other.toml", "[tool.cladonia]\non = false\n")
        self.assertEqual(child("-c", show, cwd=self.folder, CLADONIA_ON="1").stdout, "True\n")
        self.assertEqual(child("-c", show, cwd=self.folder, CLADONIA_ON="1", CLADONIA_CONFIG="other.toml").stdout, "False\n")

    def test_what_is_wrong_is_named_and_the_program_runs(self):
        for text, said in (("[tool.cladonia]\nspeed = 1\n", "has no 'speed'"), ("[tool.cladonia]\nthreshold = 'many'\n", "CLADONIA_THRESHOLD"),
                           ("[tool.cladonia]\n= 1\n", "pyproject.toml")):
            self.write("pyproject.toml", text)
            ended = child("-m", "cladonia", "-c", "print(1)", cwd=self.folder)
            with self.subTest(text=text):
                self.assertEqual((ended.stdout, ended.returncode), ("1\n", 0))
                self.assertIn(said, ended.stderr)
        ended = child("-m", "cladonia", "-c", "print(1)", cwd=self.folder, CLADONIA_CONFIG="none.toml")
        self.assertIn("none.toml", ended.stderr)

    def test_a_file_without_our_table_costs_no_parser(self):
        self.write("pyproject.toml", "[project]\nname = 'x'\n")
        said = child("-m", "cladonia", "-c", "import sys; print('tomllib' in sys.modules)", cwd=self.folder)
        self.assertEqual(said.stdout, "False\n")


@needs_jit
class Modules(InFolder):
    """CLADONIA_ONLY and CLADONIA_NOT."""

    def setUp(self):
        super().setUp()
        self.write("pack/__init__.py", "")
        self.write("pack/one.py", HOT)
        self.write("package.py", HOT)
        self.write("main.py", """\
            import cladonia, package, pack.one
            for module in (package, pack.one):
                for _ in range(3):
                    module.spin(10)
                try:
                    cladonia.compile(module.spin)
                    print("compiled")
                except cladonia.NotCompiled as error:
                    print(error)
            """)

    def said(self, **variables):
        return child("-m", "cladonia", "main.py", cwd=self.folder, **variables).stdout.splitlines()

    def test_lists(self):
        only, left_out = "its module is left out by CLADONIA_ONLY", "its module is left out by CLADONIA_NOT"
        for variables, said in (({}, ["compiled", "compiled"]), ({"CLADONIA_NOT": "pack"}, ["compiled", left_out]),
                                ({"CLADONIA_NOT": " pack.one , x"}, ["compiled", left_out]), ({"CLADONIA_ONLY": "pack"}, [only, "compiled"]),
                                ({"CLADONIA_ONLY": "package,pack", "CLADONIA_NOT": "pack.one"}, ["compiled", left_out])):
            with self.subTest(variables=variables):
                self.assertEqual(self.said(**variables), said)

    def test_what_is_left_out_is_not_inlined_either(self):
        self.write("small.py", "def inner(x):\n    return x + 1\n")
        self.write("outer.py", """\
            import cladonia
            from small import inner
            def outer(n):
                t = 0
                for i in range(n):
                    t += inner(i)
                return t
            for _ in range(100):
                outer(30)
            print('inlined' in cladonia.dump(outer, "selected") or "call_raw" in cladonia.dump(outer, "selected"))
            print(cladonia.why_not(inner))
            """)
        free = child("-m", "cladonia", "--threshold", "50", "outer.py", cwd=self.folder).stdout
        bound = child("-m", "cladonia", "--threshold", "50", "outer.py", cwd=self.folder, CLADONIA_NOT="small").stdout
        self.assertEqual(free, "True\nNone\n")
        self.assertEqual(bound, "False\nits module is left out by CLADONIA_NOT\n")


@needs_jit
class Running(InFolder):
    """A process that runs, looked at and steered from outside."""

    def start(self, **variables):
        self.write("service.py", HOT + """\
    import cladonia, sys, time
    print("ready", flush=True)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        spin(2000)
        if not sys.stdin.isatty() and cladonia.live()["on"] is False:
            print("off", flush=True)
            break
    """)
        env = harness.environment(sys.executable, XDG_RUNTIME_DIR=str(self.folder), **variables)
        process = subprocess.Popen([sys.executable, "-m", "cladonia", "service.py"], env=env, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def top(self, *words):
        return child("-m", "cladonia", "top", *words, XDG_RUNTIME_DIR=str(self.folder))

    def test_top_shows_what_runs(self):
        process = self.start(CLADONIA_TOP="1")
        for _ in range(50):
            said = self.top(process.pid, "--once")
            if "spin (service.py" in said.stdout:
                break
            time.sleep(0.1)
        self.assertRegex(said.stdout, r"\d+ units")
        self.assertRegex(said.stdout, r"\d  spin \(service.py:1\)")
        self.assertIn(str(process.pid), self.top().stdout)

    def test_top_writes_lines_into_a_pipe(self):
        process = self.start(CLADONIA_TOP="1")
        env = harness.environment(sys.executable, XDG_RUNTIME_DIR=str(self.folder))
        looking = subprocess.Popen([sys.executable, "-m", "cladonia", "top", str(process.pid), "--interval", "0.2"], env=env,
                                   stdout=subprocess.PIPE, text=True)
        lines = [looking.stdout.readline() for _ in range(2)]
        process.kill()
        rest, _ = looking.communicate(timeout=30)
        for line in lines:
            self.assertRegex(line, r"^units=\d+ queue=\d+ entries/s=\d+ turns/s=\d+ exits/s=\d+ invalidated=\d+ code_kb=\d+\n$")
        self.assertNotIn("\x1b", "".join(lines) + rest)
        self.assertEqual(looking.returncode, 0)

    def test_the_socket_is_the_users_alone_and_goes_with_the_process(self):
        process = self.start(CLADONIA_TOP="1", CLADONIA_OFF_SIGNAL="USR2")
        folder = self.folder / "cladonia"
        socket = folder / f"{process.pid}.sock"
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(socket.stat().st_mode), 0o600)
        process.send_signal(signal.SIGUSR2)
        process.wait(30)
        self.assertFalse(socket.exists())

    def test_a_folder_that_others_can_enter_is_not_used(self):
        (self.folder / "cladonia").mkdir(0o755)
        (self.folder / "cladonia").chmod(0o755)
        ended = child("-m", "cladonia", "-c", "print(1)", XDG_RUNTIME_DIR=str(self.folder), CLADONIA_TOP="1")
        self.assertEqual(ended.stdout, "1\n")
        self.assertIn("is not a folder of this user alone", ended.stderr)

    def test_nobody_answers_unless_asked_for(self):
        process = self.start()
        said = self.top(process.pid, "--once")
        self.assertEqual(said.returncode, 1)
        self.assertIn("CLADONIA_TOP=1", said.stderr)
        self.assertFalse((self.folder / "cladonia" / f"{process.pid}.sock").exists())

    def test_forked_processes_have_sockets_of_their_own_and_python_does_not_warn(self):
        self.write("forks.py", """\
            import os, time, warnings
            warnings.simplefilter("always")
            from cladonia import _top
            import cladonia
            cladonia.serve()
            cladonia.enable()
            child = os.fork()
            until = time.monotonic() + 20
            while time.monotonic() < until:
                try:
                    said = _top.ask(os.getpid())
                    break
                except OSError:  # It is there again some milliseconds after.
                    sum(range(1000))
            # In one piece, since both processes write.
            os.write(1, f"{said['pid'] == os.getpid()}\\n".encode())
            if child:
                os.waitpid(child, 0)
            """)
        ended = child("forks.py", XDG_RUNTIME_DIR=str(self.folder), cwd=self.folder)
        self.assertEqual((ended.stdout, ended.stderr), ("True\nTrue\n", ""))

    def test_a_signal_turns_the_jit_off(self):
        process = self.start(CLADONIA_OFF_SIGNAL="RTMIN+3")
        process.send_signal(signal.SIGRTMIN + 3)
        out, error = process.communicate(timeout=30)
        self.assertEqual((out, process.returncode), ("off\n", 0))
        self.assertEqual(error, f"cladonia: process {process.pid}: the JIT was turned off by a signal\n")

    def test_a_signal_that_is_none_is_named(self):
        ended = child("-m", "cladonia", "-c", "print(1)", CLADONIA_OFF_SIGNAL="LOUD")
        self.assertEqual(ended.stdout, "1\n")
        self.assertIn("CLADONIA_OFF_SIGNAL must be the name of a signal", ended.stderr)


class Metrics(InFolder):
    def check(self, text):
        """As the format is specified: families with metadata, samples of each, an end."""
        self.assertTrue(text.endswith("# EOF\n"))
        kinds, samples = {}, {}
        for line in text.splitlines()[:-1]:
            if meta := re.fullmatch(r"# (TYPE|UNIT|HELP) ([a-z_]+) (.+)", line):
                if meta[1] == "TYPE":
                    self.assertNotIn(meta[2], kinds)
                    kinds[meta[2]] = meta[3]
                elif meta[1] == "UNIT":
                    self.assertTrue(meta[2].endswith("_" + meta[3]))
                continue
            name, value = line.split(" ")
            samples[name] = float(value)
        self.assertEqual(set(samples), {name + "_total" * (kind == "counter") for name, kind in kinds.items()})
        return samples

    def test_metrics_are_openmetrics_text(self):
        samples = self.check(child("-m", "cladonia", "-c", "import cladonia; print(cladonia.metrics(), end='')").stdout)
        self.assertIn("cladonia_exits_total", samples)

    def test_there_are_some_without_the_jit(self):
        samples = self.check(child("-c", "import cladonia; print(cladonia.metrics(), end='')", CLADONIA_OFF="1").stdout)
        self.assertEqual(samples["cladonia_enabled"], 0)

    @needs_jit
    def test_counters_grow_with_what_they_count(self):
        self.write("grow.py", HOT + """\
    import cladonia
    before = cladonia.live()
    cladonia.compile(spin)
    for _ in range(10):
        spin(100)
    after = cladonia.live()
    print(after["units"] - before["units"], after["entries"] - before["entries"], after["iterations"] - before["iterations"] >= 900)
    """)
        self.assertEqual(child("grow.py", cwd=self.folder).stdout, "1 10 True\n")


if __name__ == "__main__":
    unittest.main()
