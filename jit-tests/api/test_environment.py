"""Options travel through the environment to every process below; wrong ones never break a
program."""

import json
import unittest

from support import InFolder, child, needs_hook, needs_jit

#: Variables that configure the test run are not shown.
SHOW = ("import os; print(sorted((k, v) for k, v in os.environ.items() if k.startswith('CLADONIA_')"
        " and k not in ('CLADONIA_CACHE', 'CLADONIA_EXPERIMENTAL')))")


class Environment(InFolder):
    def show(self, *words, **variables):
        return eval(child("-m", "cladonia", *words, "-c", SHOW, **variables).stdout)

    def test_options_are_put_into_the_environment(self):
        self.assertEqual(self.show("--threshold", "7", "--force-exit=seed:3"), [
            ("CLADONIA_FORCE_EXIT", "seed:3"), ("CLADONIA_ON", "1"), ("CLADONIA_THRESHOLD", "7")])

    def test_off_takes_everything_else_back(self):
        self.assertEqual(self.show("--off", CLADONIA_THRESHOLD="0", CLADONIA_ON="1", CLADONIA_WITHOUT="paths"), [("CLADONIA_OFF", "1")])

    def test_off_wins_over_options(self):
        self.assertEqual(self.show("--threshold=9", CLADONIA_OFF="1"), [("CLADONIA_OFF", "1")])
        code = "import cladonia; print(cladonia.available())"
        for off, said in (("1", "turned off by CLADONIA_OFF"), ("0", "None"), ("", "None")):
            with self.subTest(off=off):
                self.assertEqual(child("-m", "cladonia", "--threshold", "0", "-c", code, CLADONIA_OFF=off).stdout, f"{said}\n")

    def test_passes_are_left_out(self):
        self.assertIn(("CLADONIA_WITHOUT", "paths,split"), self.show("--without", "paths,split"))
        self.write("f.py", """\
            import cladonia
            def f(flag):
                if flag:
                    x = 3
                else:
                    x = 1.5
                y = x * x
                y = y + x
                return y - x * 2
            for k in range(100):
                f(k & 1)
            print("proved" in cladonia.dump(f, "selected"))
            """)
        for words, proves in ((), True), (("--without", "paths,split"), False):
            self.assertEqual(child("-m", "cladonia", *words, "f.py", cwd=self.folder).stdout, f"{proves}\n")

    def test_options_win_over_variables(self):
        self.assertIn(("CLADONIA_THRESHOLD", "9"), self.show("--threshold=9", CLADONIA_THRESHOLD="0"))

    def test_a_wrong_variable_is_named_and_the_program_runs(self):
        for name, value in [("CLADONIA_THRESHOLD", "many"), ("CLADONIA_THRESHOLD", "-3"), ("CLADONIA_FORCE_EXIT", "often"),
                            ("CLADONIA_WITHOUT", "dce")]:
            for words in (["-c", "print(1)"], ["-m", "cladonia", "-c", "print(1)"]):
                ended = child(*words, **{name: value})
                with self.subTest(name=name, words=words):
                    self.assertEqual((ended.stdout, ended.returncode), ("1\n", 0))
                    self.assertLessEqual(len(ended.stderr.splitlines()), 1)
        self.assertIn("CLADONIA_THRESHOLD", child("-m", "cladonia", "-c", "", CLADONIA_THRESHOLD="many").stderr)

    def test_statistics_are_written_at_exit_whatever_the_exit(self):
        for code in ("pass", "1/0", "import sys; sys.exit(3)"):
            file = self.folder / "stats.json"
            child("-m", "cladonia", "--stats", file, "-c", code)
            with self.subTest(code=code):
                stats = json.loads(file.read_text())
                self.assertLessEqual({"units", "entries", "exits", "refused", "invalidated", "waiting", "compile_ms", "stages_ms", "passes_ms", "paths", "coverage"}, stats.keys())
            file.unlink()

    def test_statistics_go_where_the_program_started(self):
        self.write("s.py", "import os\nos.chdir('/')\n")
        child("-m", "cladonia", "--stats=out.json", "s.py", cwd=self.folder)
        self.assertTrue((self.folder / "out.json").exists())

    def test_a_file_that_cannot_be_written_is_said_and_breaks_nothing(self):
        ended = child("-m", "cladonia", "--stats", self.folder / "no" / "stats.json", "-c", "print(1)")
        self.assertEqual((ended.stdout, ended.returncode), ("1\n", 0))
        self.assertIn("statistics", ended.stderr)

    def test_off_is_the_end_of_it(self):
        code = "import cladonia; print(cladonia.available()); cladonia.enable(); print(cladonia.is_compiled(lambda: 0))"
        self.assertEqual(child("-c", code, CLADONIA_OFF="1").stdout, "turned off by CLADONIA_OFF\nFalse\n")

    @needs_jit
    def test_other_interpreters_stay_interpreted_and_leave_the_main_one_alone(self):
        self.write("main.py", """\
            import sys
            import cladonia
            import _interpreters

            def f(): return 5

            inside = '''if 1:
                import sys
                sys.path[:] = PATH
                import cladonia
                cladonia.enable(threshold=0)
                def f(): return 5
                print(f(), cladonia.is_compiled(f), "interpreter" in cladonia.why_not(f))
                try: cladonia.compile(f)
                except cladonia.NotCompiled: print("not compiled")
                cladonia.disable()'''.replace("PATH", repr(sys.path))
            for kind in ("isolated", "legacy"):
                other = _interpreters.create(kind)
                failure = _interpreters.exec(other, inside)
                print(kind, failure)
                _interpreters.destroy(other)
            f()
            print(cladonia.is_compiled(f))
            """)
        inside = "5 False True\nnot compiled\n"
        expected = "".join(f"{inside}{kind} None\n" for kind in ("isolated", "legacy"))
        for words, compiled in [((), False), (("-m", "cladonia", "--threshold", "0"), True)]:
            with self.subTest(words=words):
                self.assertEqual(child(*words, "main.py", cwd=self.folder).stdout, f"{expected}{compiled}\n")


@needs_hook
class Children(InFolder):
    LOADED = "import sys; print('cladonia' in sys.modules)"

    def test_a_plain_python_stays_plain(self):
        self.assertEqual(child("-c", self.LOADED).stdout, "False\n")
        started = "import sys; print(sys.modules['cladonia._native']._found)"
        self.assertEqual(child("-c", started, CLADONIA_OFF="1", CLADONIA_THRESHOLD="0").stdout, "None\n")

    def test_each_variable_starts_it(self):
        for name, value in [("CLADONIA_ON", "1"), ("CLADONIA_THRESHOLD", "0"), ("CLADONIA_FORCE_EXIT", "first"), ("CLADONIA_WITHOUT", "inline")]:
            with self.subTest(name=name):
                self.assertEqual(child("-c", self.LOADED, **{name: value}).stdout, "True\n")

    def test_variables_that_say_no_do_not(self):
        started = "import cladonia._native; print(cladonia._native._found is not None)"
        for name, value in [("CLADONIA_ON", "0"), ("CLADONIA_ON", ""), ("CLADONIA_THRESHOLD", ""), ("CLADONIA_ORACLE", "0"), ("CLADONIA_STATS", "")]:
            with self.subTest(name=name, value=value):
                self.assertEqual(child("-c", started, **{name: value}).stdout, "False\n")

    def test_isolated_processes_ignore_the_environment(self):
        # `-E` hides variables from python itself, so it does from us.
        code = "import sys; m = sys.modules.get('cladonia._native'); print(m is None or m._found is None)"
        self.assertEqual(child("-E", "-c", code, CLADONIA_THRESHOLD="0").stdout, "True\n")

    def test_children_of_a_program_write_their_own_statistics(self):
        self.write("parent.py", """\
            import subprocess, sys, os
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            if os.fork() == 0:
                sys.exit(0)
            os.wait()
            """)
        child("-m", "cladonia", "--stats", "out.json", "parent.py", cwd=self.folder)
        files = sorted(self.folder.glob("out*.json"))
        self.assertEqual(len(files), 3, files)
        pids = {json.loads(file.read_text())["pid"] for file in files}
        self.assertEqual(len(pids), 3)

    def test_multiprocessing_children_inherit(self):
        self.write("mp.py", """\
            import multiprocessing, sys
            def loaded():
                import cladonia
                return 'cladonia._start' in sys.modules
            if __name__ == "__main__":
                for method in ("fork", "spawn", "forkserver"):
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        print(pool.apply(loaded))
            """)
        self.assertEqual(child("-m", "cladonia", "mp.py", cwd=self.folder).stdout, "True\n" * 3)

    @needs_jit
    def test_children_compile(self):
        self.write("parent.py", """\
            import subprocess, sys
            subprocess.run([sys.executable, "-c", "def f(): pass\\nf()\\nimport cladonia; print(cladonia.is_compiled(f))"], check=True)
            """)
        self.assertEqual(child("-m", "cladonia", "--threshold", "0", "parent.py", cwd=self.folder).stdout, "True\n")


if __name__ == "__main__":
    unittest.main()
