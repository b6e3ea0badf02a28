"""The plugin of pytest, the magic of IPython, and bars that are drawn on terminals only."""

import contextlib
import importlib.metadata
import importlib.util
import io
import unittest

from support import InFolder, child, needs_jit

HAS_PYTEST = importlib.util.find_spec("pytest") is not None


@unittest.skipUnless(HAS_PYTEST, "pytest is not installed")
class Pytest(InFolder):
    def run_suite(self, text, *words):
        self.write("test_it.py", text)
        # Where the package was installed, pytest finds the plugin by itself.
        is_found = importlib.metadata.entry_points(group="pytest11", name="cladonia")
        named = [] if is_found else ["-p", "cladonia._pytest_plugin"]
        return child("-m", "pytest", *named, "-q", "-p", "no:cacheprovider", *words, cwd=self.folder)

    def test_pytest_says_no_more_where_the_jit_is_on(self):
        self.write("test_one.py", "def test_one():\n    assert 1\n")
        said = child("-m", "cladonia", "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=self.folder)
        self.assertIn("1 passed in", said.stdout)
        self.assertNotIn("warning", said.stdout)

    SUITE = """\
        import time
        def test_slow():
            t = 0
            for i in range(2_000_000):
                t += i & 7
        def test_same():
            assert 1
        """

    @needs_jit
    def test_a_suite_runs_both_ways_and_times_are_compared(self):
        ended = self.run_suite(self.SUITE, "--cladonia", "--cladonia-rounds", "2")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(ended.stdout.count("2 passed"), 4)
        self.assertRegex(ended.stdout, r"cladonia: 2 tests took [\d.]+ s without the JIT and [\d.]+ s with it: [\d.]+x")
        self.assertRegex(ended.stdout, r"cladonia: faster:\n +[\d.]+ s +[\d.]+ s +[\d.]+x  test_it.py::test_slow")

    @needs_jit
    def test_an_outcome_that_differs_is_named(self):
        ended = self.run_suite("import cladonia\ndef test_it():\n    assert not cladonia.live()['on']\n", "--cladonia")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("the outcome differs: test_it.py::test_it: passed without, failed with the JIT", ended.stdout)

    def test_without_the_option_nothing_is_different(self):
        ended = self.run_suite(self.SUITE)
        self.assertEqual(ended.returncode, 0)
        self.assertNotIn("cladonia:", ended.stdout)


class Shell:
    """The parts of IPython that the magic uses."""

    def __init__(self):
        self.user_ns = {"seen": []}
        self.magics = {}

    def transform_cell(self, cell):
        return cell

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function


@needs_jit
class Magic(unittest.TestCase):
    def test_a_cell_runs_once_and_both_times_are_shown(self):
        import cladonia

        shell, said = Shell(), io.StringIO()
        cladonia.load_ipython_extension(shell)
        cell = "seen.append(1)\ndef f(n):\n    t = 0\n    for i in range(n):\n        t += i & 7\n    return t\nanswer = f(300000)\n"
        with contextlib.redirect_stderr(said):
            shell.magics["cell", "cladonia"]("", cell)
        self.assertEqual((shell.user_ns["seen"], shell.user_ns["answer"]), ([1], 1050000))
        self.assertRegex(said.getvalue(), r"cladonia: [\d.]+ s with the JIT \(compiling included\), [\d.]+ s without: [\d.]+x")
        self.assertFalse(cladonia.live()["on"])

    def test_what_a_cell_raises_is_raised(self):
        import cladonia

        shell = Shell()
        cladonia.load_ipython_extension(shell)
        with self.assertRaises(ZeroDivisionError):
            shell.magics["cell", "cladonia"]("", "1/0\n")
        with self.assertRaises(ValueError):
            shell.magics["cell", "cladonia"]("-x", "1\n")


class Terminal(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


class Bars(unittest.TestCase):
    def drawn(self, is_terminal):
        from cladonia import _progress

        out = Terminal(is_terminal)
        with _progress.Progress("work", out) as progress:
            progress._due = 0
            progress.step(1, 4, "first")
        return out.getvalue()

    def test_a_bar_is_drawn_on_a_terminal_and_gone_after(self):
        drawn = self.drawn(True)
        self.assertIn("work [########......................]  25% first", drawn)
        self.assertTrue(drawn.endswith("\r"))
        self.assertEqual(drawn.rsplit("\r", 2)[1].strip(), "")

    def test_nothing_is_drawn_in_a_pipe(self):
        self.assertEqual(self.drawn(False), "")


if __name__ == "__main__":
    unittest.main()
