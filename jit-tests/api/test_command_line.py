"""`python -m cladonia` behaves as python itself does, and refuses bad options by name."""

import json
import os
import sys
import unittest
import zipfile

from support import InFolder, child, needs_jit


class LikePython(InFolder):
    """The same words after `python` and after `python -m cladonia` show the same."""

    def same(self, *words, options=(), before=(), **how):
        plain = child(*before, *words, cwd=self.folder, CLADONIA_OFF="1", **how)
        ours = child(*before, "-m", "cladonia", *options, *words, cwd=self.folder, **how)
        self.assertEqual(ours.stdout, plain.stdout)
        self.assertEqual(ours.stderr, plain.stderr)
        self.assertEqual(ours.returncode, plain.returncode)
        return plain

    SHOW = """\
        import sys
        print(sys.argv, sys.path[0], __name__, sorted(globals()))
        print(__spec__ and __spec__.name, __package__, globals().get('__file__'), sys.modules['__main__'].__dict__ is globals())
        """

    def test_a_script_sees_what_python_shows_it(self):
        self.write("show.py", self.SHOW)
        self.write("sub/show.py", self.SHOW)
        os.symlink("sub/show.py", self.folder / "link.py")
        for script in ("show.py", "sub/show.py", "./show.py", "link.py", self.folder / "show.py"):
            with self.subTest(script=script):
                self.same(script, "a", "--threshold", "-m")
        self.same("show.py", before=["-P"])

    def test_a_script_finds_few_modules_imported_that_python_does_not_import(self):
        script = self.write("names.py", "import sys\nprint(*sorted(sys.modules))")
        plain = set(child(script).stdout.split())
        more = {name.partition(".")[0] for name in set(child("-m", "cladonia", script).stdout.split()) - plain}
        few = {"cladonia", "__future__", "atexit", "gc", "importlib", "runpy", "types"}
        if sys.version_info >= (3, 14):
            # Modules that these import themselves.
            few |= {"_contextvars", "_py_warnings", "_types", "io", "warnings"}
        self.assertLessEqual(more, few)

    def test_a_module_sees_what_python_shows_it(self):
        self.write("show.py", self.SHOW)
        self.write("pack/__init__.py", "")
        self.write("pack/__main__.py", self.SHOW)
        self.same("-m", "show", "x")
        self.same("-mpack", "-c", "y")
        self.assertEqual(self.same("-m", "no_such").returncode, 1)

    def test_code_stdin_folders_and_archives(self):
        text = "import sys\nprint(sys.argv, sys.path[0], sorted(globals()))\n1/0\n"
        self.same("-c", text, "x")
        self.same("-", "x", text=text)
        self.write("folder/__main__.py", text)
        self.same("folder", "x")
        with zipfile.ZipFile(self.folder / "archive.zip", "w") as archive:
            archive.writestr("__main__.py", text)
        self.same("archive.zip")
        self.same("empty.py")
        self.write("empty/file", "")
        self.same("empty")

    def test_encodings_of_programs(self):
        sources = {"latin.py": b"# coding: latin-1\nprint(ascii('\xe4'))", "mark.py": b"\xef\xbb\xbfprint(ascii('\xc3\xa4'))", "empty.py": b""}
        for name, source in sources.items():
            (self.folder / name).write_bytes(source)
            with self.subTest(name=name):
                self.same(name)
        self.same("-", text="print(ascii('\xe4'))")
        self.same("-c", "# coding: latin-1\nprint(ascii('\xe4'))")
        for name, source in {"zero.py": b"print(1)\0", "not_utf8.py": b"print('\xff')"}.items():
            (self.folder / name).write_bytes(source)
            ended = child("-m", "cladonia", name, cwd=self.folder)
            self.assertEqual((ended.stdout, ended.returncode), ("", 1))
            self.assertIn("SyntaxError", ended.stderr.splitlines()[-1])

    def test_audit_hooks_hear_what_they_hear_of_python(self):
        self.write("hooks.py", "import sys\nsys.addaudithook(lambda event, args: print(event))\nsys._getframe()\n")
        self.same("hooks.py")

    def test_exit_codes(self):
        for code in ("sys.exit()", "sys.exit(3)", "sys.exit('words')", "raise SystemExit(True)", "os._exit(4)", "1/0",
                     "raise KeyboardInterrupt", "atexit.register(lambda: print('bye')); sys.exit(5)", "os.abort()"):
            with self.subTest(code=code):
                self.same("-c", f"import sys, os, atexit; {code}")
                self.write("s.py", f"import sys, os, atexit\n{code}\n")
                self.same("s.py")

    def test_tracebacks_begin_where_the_program_begins(self):
        self.write("t.py", """\
            def f(x):
                try:
                    return 1 / x
                except ZeroDivisionError as error:
                    raise ValueError("chained") from error

            def g(x):
                try:
                    f(x)
                finally:
                    {}["missing" + str(x)]

            g(0)
            """)
        self.assertNotIn("_cli", self.same("t.py").stderr)
        self.same("-m", "t")
        self.write("syntax.py", "x = (\n")
        self.same("syntax.py")
        self.write("group.py", "raise ExceptionGroup('g', [ValueError(1), TypeError('2')])\n")
        self.same("group.py")
        self.write("deep.py", "def r(n):\n    return r(n + 1)\n\nr(0)\n")
        # Our own frames under the program's count too, so it gets a few calls less deep.
        plain, ours = (child(*words, "deep.py", cwd=self.folder).stderr.splitlines() for words in ([], ["-m", "cladonia"]))
        self.assertEqual((ours[:8], ours[-1]), (plain[:8], plain[-1]))

    def test_hooks_see_the_traceback_without_our_frames(self):
        self.write("hook.py", """\
            import sys, atexit, traceback
            def hook(kind, error, trace):
                print(kind, error, [f.name for f in traceback.extract_tb(trace)], error.__traceback__ is trace, sys.last_exc is error)
            sys.excepthook = hook
            atexit.register(lambda: print(sys.excepthook is hook, sys.last_traceback is sys.last_exc.__traceback__))
            raise LookupError("x")
            """)
        self.same("hook.py")

    def test_threads_and_unraisable_errors(self):
        self.write("thread.py", """\
            import threading
            class D:
                def __del__(self):
                    raise ValueError("in del")
            D()
            t = threading.Thread(target=lambda: 1 / 0, name="T")
            t.start(); t.join()
            print(threading.main_thread() is threading.current_thread())
            """)
        plain, ours = (child(*words, "thread.py", cwd=self.folder) for words in ([], ["-m", "cladonia"]))
        self.assertEqual(ours.stdout, plain.stdout)
        self.assertEqual(len(ours.stderr.splitlines()), len(plain.stderr.splitlines()))

    def test_multiprocessing_finds_its_way_back(self):
        self.write("mp.py", """\
            import multiprocessing
            def square(x):
                return x * x
            if __name__ == "__main__":
                for method in ("fork", "spawn", "forkserver"):
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        print(method, pool.map(square, range(5)))
            """)
        self.same("mp.py")
        self.same("-m", "mp")

    def test_pickling_from_main(self):
        self.same("-c", "import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))) is C)")

    def test_interactive_after_an_error(self):
        self.write("i.py", "x = 5\n1/0\n")
        self.same("i.py", before=["-i"], text="print(x)\n")


class Oracle(InFolder):
    """`--oracle` runs compiled code in the LIR interpreter, reports that, and shows the location
    of a planted fault."""

    # A difference of products. For unboxed operands the compiler knows that it can't overflow, and
    # plants no fault.
    LESS = "def less(a, b, c): return a * b - b * c\nprint(less(7, 1, 2))\n"

    def run_less(self, *options, plant=""):
        return child("-m", "cladonia", "--threshold=0", *options, "-c", self.LESS, CLADONIA_PLANT=plant)

    @needs_jit
    def test_it_says_what_it_ran_and_what_it_left_out(self):
        ended = self.run_less("--oracle")
        self.assertEqual(ended.stdout, "5\n")
        self.assertRegex(ended.stderr, r"^cladonia: oracle: [1-9]\d* units in the LIR interpreter, entered [1-9]\d* times\n")
        self.assertIn("left out", ended.stderr)
        self.assertEqual(self.run_less().stderr, "")

    @needs_jit
    def test_a_fault_in_a_lowering_shows_in_both(self):
        for options in ([], ["--oracle"]):
            self.assertEqual(self.run_less(*options, plant="lowering").stdout, "-5\n", options)

    @needs_jit
    def test_a_fault_in_code_generation_shows_in_machine_code_alone(self):
        self.assertEqual(self.run_less("--oracle", plant="codegen").stdout, "5\n")
        self.assertEqual(self.run_less(plant="codegen").stdout, "-5\n")

    @needs_jit
    def test_the_statistics_have_it(self):
        file = self.folder / "stats.json"
        ended = child("-m", "cladonia", "--threshold=0", "--oracle", "--stats", file, "-c", self.LESS)
        self.assertEqual((ended.stdout, ended.stderr), ("5\n", ""))
        oracle = json.loads(file.read_text())["oracle"]
        self.assertGreater(oracle["units"], 0)
        self.assertGreater(oracle["entries"], 0)


class BadOptions(unittest.TestCase):
    def refused(self, word, *words):
        ended = child("-m", "cladonia", *words)
        self.assertEqual(ended.returncode, 2, ended)
        self.assertEqual(ended.stdout, "")
        self.assertIn(word, ended.stderr.splitlines()[0])
        self.assertNotIn("Traceback", ended.stderr)

    def test_bad_options_are_named(self):
        self.refused("--threshold", "--threshold", "x", "-c", "pass")
        self.refused("--threshold", "--threshold=-1", "-c", "pass")
        self.refused("--threshold", "--threshold")
        self.refused("--threshold", "--threshold", str(2**50), "-c", "pass")
        self.refused("--force-exit", "--force-exit=sometimes", "-c", "pass")
        self.refused("--stats", "--stats=", "-c", "pass")
        self.refused("--speed", "--speed", "-c", "pass")
        self.refused("-x", "-x", "script.py")
        self.refused("-c", "-c")
        self.refused("-m", "-m")
        self.refused("program", "--off")
        self.refused("program")

    def test_a_missing_script_is_reported_as_python_does(self):
        plain, ours = child("no such.py"), child("-m", "cladonia", "no such.py")
        self.assertEqual((ours.returncode, ours.stderr), (plain.returncode, plain.stderr))

    def test_help_and_version(self):
        self.assertIn("--threshold", child("-m", "cladonia", "--help").stdout)
        self.assertIn("cladonia", child("-m", "cladonia", "--version").stdout)


if __name__ == "__main__":
    sys.exit("run jit-tests/api/run.py")
