"""Profilers and debuggers from outside name compiled code: perf, gdb, faulthandler, py-spy. Each is
tested where it is installed and may be used."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness
from support import InFolder, child, needs_jit

PROGRAM = """\
    import sys, time
    def inner(n):
        t = 0
        for i in range(n):
            t += i & 7
        return t
    def outer(seconds):
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            inner(200000)
    import cladonia
    cladonia.compile(inner)
    print("ready", flush=True)
    outer(float(sys.argv[1]))
    """


@needs_jit
class Symbols(InFolder):
    def setUp(self):
        super().setUp()
        self.program = self.write("named.py", PROGRAM)

    def environment(self, **variables):
        return harness.environment(sys.executable, **variables)

    def test_the_perf_map_names_file_and_line(self):
        env = self.environment(CLADONIA_PERF="map")
        process = subprocess.Popen([sys.executable, "-m", "cladonia", "named.py", "0"], env=env, cwd=self.folder, stdout=subprocess.PIPE)
        process.communicate(timeout=60)
        path = f"/tmp/perf-{process.pid}.map"
        self.addCleanup(os.unlink, path)
        with open(path) as lines:
            found = [line.split(" ", 2) for line in lines]
        self.assertTrue(any(name.startswith("py::inner ") and name.endswith(f"{self.program}:2\n") for _, _, name in found), found)
        for start, size, _ in found:
            self.assertGreater(int(start, 16), 0)
            self.assertGreater(int(size, 16), 0)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_nothing_is_written_unless_asked_for(self):
        process = subprocess.Popen([sys.executable, "-m", "cladonia", "named.py", "0"], env=self.environment(), cwd=self.folder, stdout=subprocess.PIPE)
        process.communicate(timeout=60)
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".dump")], [])

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_perf_names_samples_by_the_map_and_by_the_dump(self):
        for way, after in (("map", []), ("dump", ["inject"])):
            with self.subTest(way=way):
                env = self.environment(CLADONIA_PERF=way)
                recorded = subprocess.run(["perf", "record", "-k", "mono", "-e", "cpu-clock", "-F", "500", "-g", "-o", "perf.data", sys.executable, "-m", "cladonia",
                                           "named.py", "0.6"], env=env, cwd=self.folder, capture_output=True, text=True, timeout=120)
                if recorded.returncode:
                    self.skipTest(f"perf may not record here: {recorded.stderr.strip()[:200]}")
                data = "perf.data"
                if after:
                    injected = subprocess.run(["perf", "inject", "--jit", "-i", data, "-o", "jit.data"], cwd=self.folder, capture_output=True, text=True, timeout=120)
                    if injected.returncode:
                        self.skipTest(f"perf inject does not work here: {injected.stderr.strip()[:200]}")
                    data = "jit.data"
                shown = subprocess.run(["perf", "report", "-i", data, "--no-children", "--stdio", "-g", "none", "--sort", "sym"], cwd=self.folder,
                                       capture_output=True, text=True, timeout=120).stdout
                self.assertRegex(shown, rf"\d%.*py::inner (?:raw )?{re.escape(str(self.program))}:2")

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_the_dump_has_code_and_lines(self):
        child("-m", "cladonia", "named.py", "0", cwd=self.folder, CLADONIA_PERF="dump", JITDUMPDIR=str(self.folder))
        dumps = list(self.folder.glob("jit-*.dump"))
        self.assertEqual(len(dumps), 1)
        data = dumps[0].read_bytes()
        import struct

        magic, version, size, machine = struct.unpack_from("=IIII", data)
        self.assertEqual((magic, version, size), (0x4A695444, 1, 40))
        at, kinds, names = size, [], []
        while at < len(data):
            kind, length = struct.unpack_from("=II", data, at)
            kinds.append(kind)
            if kind == 0:
                code = struct.unpack_from("=Q", data, at + 16 + 24)[0]
                name = data[at + 56:data.index(b"\0", at + 56)]
                names.append(name.decode())
                self.assertEqual(length, 56 + len(name) + 1 + code)
            at += length
        self.assertEqual(at, len(data))
        self.assertEqual(kinds, [2, 0] * (len(kinds) // 2))
        self.assertTrue(any("py::inner" in name for name in names))

    def running(self, **variables):
        process = subprocess.Popen([sys.executable, "-X", "faulthandler", "-m", "cladonia", "named.py", "20"], env=self.environment(**variables), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.3)
        return process

    def test_faulthandler_names_native_frames(self):
        process = self.running()
        process.send_signal(signal.SIGABRT)
        _, error = process.communicate(timeout=30)
        self.assertIn("Fatal Python error: Aborted", error)
        self.assertRegex(error, r'File ".*named.py", line \d+ in outer')

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb_names_native_frames(self):
        process = self.running(CLADONIA_GDB="1")
        shown = subprocess.run(["gdb", "-p", str(process.pid), "-batch", "-nx", "-ex", "set jit-reader-load", "-ex", "thread apply all bt 12"],
                               capture_output=True, text=True, timeout=120)
        if "ptrace" in shown.stderr:
            self.skipTest("this process may not look into others")
        self.assertRegex(shown.stdout, rf"py::(?:inner|outer).*{re.escape(str(self.program))}:\d")

    @unittest.skipUnless(shutil.which("py-spy"), "py-spy is not installed")
    def test_py_spy_names_native_frames(self):
        process = self.running()
        shown = subprocess.run(["py-spy", "dump", "--pid", str(process.pid)], capture_output=True, text=True, timeout=60)
        if shown.returncode:
            self.skipTest(f"py-spy may not look into it: {shown.stderr.strip()[:200]}")
        self.assertRegex(shown.stdout, r"outer \(named.py:\d+\)")


if __name__ == "__main__":
    unittest.main()
