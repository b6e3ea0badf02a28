"""`python -m cladonia export`: one file from which every stage is the same without Python. Needs
the tool `cladonia` (`cargo build -p cladonia-reference`)."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import harness
from support import InFolder, child, needs_jit

PROGRAM = """
    import math
    SCALE, NAMES = 3, ("a", "b", "c")

    class Point:
        def __init__(self, x, y):
            self.x = x
            self.y = y
        def norm(self):
            return self.x * self.x + self.y * self.y

    class Deep(Point):
        kind = "deep"
        def norm(self):
            return super().norm() * SCALE

    class Slotted:
        __slots__ = ("v",)
        def __init__(self, v):
            self.v = v

    def add(a, b=2):
        return a + b

    def total(n):
        t = 0
        for i in range(n):
            t = add(t, i) * SCALE - i
        return t

    def points(ps):
        s = 0
        for p in ps:
            s += p.norm()
        return s

    def names(s):
        return NAMES[2] + Deep.kind + str(s.v) + str(math.sqrt(len(NAMES)))

    def careful(x, y):
        try:
            return x // y
        except ZeroDivisionError:
            return None

    def rare(n):
        if n > 100:
            return total(n)
        return fib(n)

    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def gen():
        yield 1

    def large():
        MANY
        return v7

    for _ in range(30):
        total(10), points([Point(1, 2), Deep(3, 4)]), names(Slotted(4)), careful(5, 0), careful(6, 2), rare(6)
""".replace("MANY", "; ".join(f"v{n} = {n}" for n in range(400)))
STAGES = ("hir", "selected", "lir", "clif", "asm")

# Prints the compiler's texts for each function in this process, and writes the document of the same
# compile.
INSPECT = """
import json, sys
from cladonia import _cladonia, _export
script = sys.argv[1]
code = compile(open(script).read(), script, "exec")
module, raised = _export._run(code, script, [])
seen = {}
for function in _export._functions(code):
    seen[function.__qualname__] = _cladonia.inspect(function)
print(json.dumps(seen))
"""


def find_tool():
    """The newest `cladonia` that was built, or None."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(harness.PACKAGE).parents[2] / "target"))
    built = [path for kind in ("debug", "release") if (path := target / kind / "cladonia").is_file()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


TOOL = find_tool()


def tool(*words):
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=60)


@needs_jit
@unittest.skipUnless(TOOL, "the tool `cladonia` was not built")
class Replays(InFolder):
    def test_every_stage_is_the_same_without_python(self):
        import json

        script = self.write("program.py", PROGRAM)
        run = child("-c", INSPECT, script)
        seen = json.loads(run.stdout)
        self.assertEqual((run.stderr, len(seen)), ("", 13))
        document = self.folder / "program.tbc"
        # All in one file, as `export` writes it.
        texts = list(seen.values())
        document.write_text(texts[0]["host"] + "".join(text["unit"] for text in texts))
        for name, stages in seen.items():
            for stage in STAGES:
                if "error" in stages:
                    self.assertEqual((name, stages["error"]), ("large", "a function of this size (more than 16000 instructions, or 300000 instructions times locals) is not compiled (line 57)"))
                    self.assertIn(f"`large`: {stages['error']}", tool(stage, document, name).stderr)
                    continue
                with self.subTest(function=name, stage=stage):
                    again = tool(stage, document, name)
                    self.assertEqual((again.stderr, again.stdout), ("", stages[stage]))
        # The answers of the `World` are in it.
        units = "".join(text["unit"] for text in texts)
        for part in ('global 0 "add" = ', 'load_attr ObjectUser[Deep:Exact] "x" = field', "= builtin len", "  tuple ",
                     "= function 2 [", 'store_attr ObjectUser[Point:Exact] "y" = field', "hint [Bottom]", "  object "):
            self.assertTrue(part in units, part)

    def test_an_exported_program_is_one_file_for_all(self):
        script = self.write("program.py", PROGRAM)
        document = self.folder / "out.tbc"
        run = child("-m", "cladonia", "export", script, "-o", document)
        self.assertEqual((run.stdout, run.stderr, run.returncode), ("", "", 0))
        text = document.read_text()
        self.assertIn("; large: a function of this size (more than 16000 instructions, or 300000 instructions times locals) is not compiled (line 57)\n", text)
        self.assertIn('  layout "PyFloatObject" {\n    ob_refcnt 0 u32\n    ob_type 8 ptr\n    ob_fval 16 f64\n  }\n', text)
        self.assertIn("17 codes, 13 units: well-formed", tool("verify", document).stdout)
        # All units, or one.
        self.assertEqual(tool("selected", document, "fib").stdout.count("function "), 1)
        self.assertEqual(tool("hir", document).stdout.count("\nfunction "), 12)
        diff = tool("hir", document, "total", "--after", "specialise", "--diff")
        self.assertIn("; specialise#1\n", diff.stdout)

    def test_units_are_written_as_they_were_compiled_while_the_program_ran(self):
        script = self.write("program.py", PROGRAM + """
    count = 0
    for i in range(5000):
        count = count + i * 2
    print(count)
    raise SystemExit
""")
        document = self.folder / "out.tbc"
        run = child("-m", "cladonia", "export", script, "-o", document, "--jit", "10")
        self.assertEqual((run.stdout, run.stderr, run.returncode), ("", "24995000\n", 0))
        # The module's own loop with its names in registers is there too.
        loop = tool("selected", document, "<module>").stdout
        self.assertIn("  names ", loop)
        self.assertIn(" loop {", loop)
        self.assertNotIn("not compiled", loop)
        for stage in STAGES:
            self.assertEqual(tool(stage, document).returncode, 0)

    def test_bytecode_alone_has_no_units(self):
        script = self.write("program.py", PROGRAM)
        for option in ("--bytecode", "--no-run"):
            run = child("-m", "cladonia", "export", script, "-o", "-", option)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn('code "fib" {', run.stdout)
            self.assertNotIn("unit ", run.stdout)

    @unittest.skipUnless(sys.version_info[:2] == (3, 13), "the page shows CPython 3.13's bytecode")
    def test_the_bytecode_of_the_life_of_a_function_is_exported(self):
        page = (harness.ROOT / "docs" / "life.md").read_text()
        program = page.split("```python\n", 1)[1].split("```", 1)[0]
        expected = page.split("```tbc\n", 1)[1].split("```", 1)[0]
        self.write("squares.py", program)
        run = child("-m", "cladonia", "export", "squares.py", "-o", "-", "--bytecode", cwd=self.folder)
        self.assertEqual((run.stderr, run.returncode), ("", 0))
        # The page has no module code, and declares only the objects that the function names.
        declared, function = expected.split("\n\n", 1)
        self.assertEqual('code "squares"' + run.stdout.split('code "squares"', 1)[1], function)
        self.assertLessEqual(set(declared.splitlines()), set(run.stdout.splitlines()))

    def test_a_script_gets_its_arguments_and_its_failure_is_told(self):
        script = self.write("args.py", "import sys\nprint(sys.argv[1:], sys.path[0])\ndef f(): return 1\nf()\n1 // 0\n")
        run = child("-m", "cladonia", "export", script, "12", "-o", "-", "--bytecode")
        folder = str(script).rpartition("/")[0]
        self.assertEqual(run.stderr.splitlines()[0], f"['12'] {folder}")
        self.assertIn("ZeroDivisionError", run.stderr)
        self.assertEqual(run.returncode, 1)
        self.assertIn('code "f" {', run.stdout)

    def test_options_that_contradict_each_other_are_named(self):
        run = child("-m", "cladonia", "export", self.write("p.py", ""), "--jit", "5", "--bytecode")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--jit needs a script that is run", run.stderr)

    def test_a_script_that_is_not_there_is_named(self):
        run = child("-m", "cladonia", "export", "no_such_script.py")
        self.assertEqual(run.returncode, 2)
        self.assertIn("can't open 'no_such_script.py': No such file or directory", run.stderr)
