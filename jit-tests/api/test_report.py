"""The report: the recording adds up, the page shows it, and its advice is correct."""

import html
import json
import re
import unittest

from support import InFolder, child, needs_hook, needs_jit

#: A program with raw loops, boxed ones, exits, garbage, C code, and a refused function.
PROGRAM = """\
    import gc, json, sys, time, zlib

    class Point:
        def __init__(self, x):
            self.x = x

    def total(points, n):
        t = 0
        for p in points:
            t += p.x * n
        return t

    def raw(n):
        t = 0
        for i in range(n):
            t += i & 7
        return t

    def scale(x, factor):
        y = x * factor
        return y + 1

    def work(seconds):
        points = [Point(i) for i in range(50)]
        until = time.perf_counter() + seconds
        turn = 0
        while time.perf_counter() < until:
            total(points, 3)
            raw(300)
            for k in range(20):
                scale(k * 1.5 if turn % 7 == 6 else k, 3)
            if turn % 50 == 0:
                zlib.compress(bytes(20000))
                json.loads('{"a": [1, 2]}')
            turn += 1

    work(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
    """

RECORD = """\
    import cladonia, json, sys
    from cladonia import _native
    native = _native.load()
    native.observe(True)
    cladonia.enable()
    sys.argv = ["program.py", "1.0"]
    exec(compile(open("program.py").read(), "program.py", "exec"), {"__name__": "program"})
    recorded = native.observed()
    for row in recorded["functions"]:
        row["function"] = row["function"] is not None
    print(json.dumps(recorded))
    """


@needs_jit
class Recording(InFolder):
    """The results of `observe` and `observed`."""

    def setUp(self):
        super().setUp()
        self.write("program.py", PROGRAM)

    def recorded(self):
        self.write("record.py", RECORD)
        ended = child("record.py", cwd=self.folder)
        self.assertEqual(ended.stderr, "")
        return json.loads(ended.stdout)

    def test_sums_add_up(self):
        recorded = self.recorded()
        self.assertIsNone(recorded["not_sampled"])
        own = [sum(counts) for counts in zip(*(node[3] for node in recorded["tree"]))]
        self.assertGreater(recorded["periods"], 50)
        self.assertEqual(sum(own), recorded["periods"])
        by_tick = [sum(counts) for counts in zip(*recorded["ticks"]["doing"])]
        self.assertEqual(by_tick, own)
        exits = sum(exit["count"] for row in recorded["functions"] for exit in row["exits"])
        self.assertEqual(sum(recorded["ticks"]["exits"]), exits)
        # Time by line is that of frames; a closed unit has none, and code without a frame has no
        # line.
        self.assertLessEqual(sum(count for *_, count in recorded["lines"]), recorded["periods"])
        for parent, *_ in recorded["tree"][1:]:
            self.assertLess(parent, len(recorded["tree"]))

    def test_times_are_those_of_the_clock(self):
        recorded = self.recorded()
        # `work` runs for a second, of which other processes of the machine may take a part.
        self.assertLessEqual(recorded["periods"] * recorded["period"], recorded["seconds"] * 1.05)
        self.assertGreater(recorded["periods"] * recorded["period"], 0.1)

    def test_functions_are_what_they_were_seen_to_be(self):
        functions = {row["name"]: row for row in self.recorded()["functions"]}
        for name in ("total", "raw", "scale"):
            with self.subTest(name=name):
                row = functions[name]
                self.assertTrue(row["compiled"])
                self.assertTrue(row["file"].endswith("program.py"))
                self.assertGreater(row["entries"] + row["iterations"], 100)
                self.assertGreaterEqual(row["versions"], 1)
        self.assertGreater(functions["raw"]["iterations"], functions["raw"]["entries"])
        self.assertGreater(functions["raw"]["gain_seconds"], 0)

    def test_events_come_in_order_and_within_the_run(self):
        recorded = self.recorded()
        times = [event["at"] for event in recorded["events"]]
        self.assertEqual(times, sorted(times))
        self.assertLessEqual(max(times), recorded["seconds"])
        compiled = [event for event in recorded["events"] if event["kind"] == "compiled"]
        made = sum(row["versions"] for row in recorded["functions"])
        self.assertEqual(len(compiled), made)
        self.assertTrue(all(event["took"] > 0 for event in compiled))
        # A unit is installed at most once, after it was compiled.
        ready = {event["unit"]: event["at"] for event in compiled}
        installed = [event for event in recorded["events"] if event["kind"] == "installed"]
        self.assertGreaterEqual(len(installed), 3)
        self.assertEqual(len({event["unit"] for event in installed}), len(installed))
        self.assertTrue(all(ready[event["unit"]] <= event["at"] for event in installed))

    def test_machine_code_has_time_where_it_runs(self):
        self.write("loop.py", """\
            import json
            from cladonia import _native
            import cladonia
            def raw(n):
                t = 0
                for i in range(n):
                    t += i & 7
                return t
            cladonia.compile(raw)
            native = _native.load()
            native.observe(True)
            raw(200_000_000)
            recorded = native.observed()
            print(json.dumps([recorded["doing"], recorded["tree"], recorded["periods"]]))
            """)
        doing, tree, periods = json.loads(child("loop.py", cwd=self.folder).stdout)
        own = dict(zip(doing, (sum(counts) for counts in zip(*(node[3] for node in tree)))))
        self.assertGreater(own["machine"], 0.8 * periods)

    def test_interpreted_code_has_time_where_it_runs(self):
        self.write("loop.py", """\
            import json
            from cladonia import _native
            native = _native.load()
            native.observe(True)
            def slow(n):
                i = 0
                while i < n:
                    i += 1
            slow(10_000_000)
            recorded = native.observed()
            print(json.dumps([recorded["doing"], recorded["tree"], recorded["periods"]]))
            """)
        doing, tree, periods = json.loads(child("loop.py", cwd=self.folder).stdout)
        own = dict(zip(doing, (sum(counts) for counts in zip(*(node[3] for node in tree)))))
        self.assertEqual(own["machine"], 0)
        self.assertGreater(own["interpreter"] + own["c_interpreted"], 0.8 * periods)

    def test_operands_that_exits_have_met_are_counted(self):
        self.write("met.py", """\
            import json
            from cladonia import _native
            import cladonia
            def half(xs):
                return xs[0] - 1
            for k in range(50):
                half([k])
            cladonia.compile(half)
            native = _native.load()
            native.observe(False)
            for k in range(30):
                half([k + 0.5])
            recorded = native.observed()
            print(json.dumps([recorded["met"], recorded["not_sampled"], recorded["periods"]]))
            """)
        met, not_sampled, periods = json.loads(child("met.py", cwd=self.folder).stdout)
        self.assertEqual((not_sampled, periods), ("sampling was not requested", 0))
        counted = {tuple(row["classes"]): row["count"] for row in met}
        self.assertEqual(counted, {("float", "int"): 30})

    def test_a_program_that_has_its_own_sigprof_is_not_sampled(self):
        self.write("own.py", """\
            import signal
            heard = []
            signal.signal(signal.SIGPROF, lambda *_: heard.append(1))
            from cladonia import _native
            native = _native.load()
            native.observe(True)
            signal.raise_signal(signal.SIGPROF)
            print(len(heard), native.observed()["not_sampled"])
            """)
        self.assertEqual(child("own.py", cwd=self.folder).stdout, "1 SIGPROF is the program's own\n")

    def test_threads_and_forks_are_recorded(self):
        self.write("threads.py", """\
            import os, sys, threading, time, warnings
            warnings.simplefilter("always")
            import cladonia
            from cladonia import _native
            native = _native.load()
            native.observe(True)
            cladonia.enable()
            def spin(seconds):
                until = time.perf_counter() + seconds
                while time.perf_counter() < until:
                    pass
            def in_thread():
                spin(0.6)
            thread = threading.Thread(target=in_thread)
            thread.start()
            thread.join()
            child = os.fork()
            spin(0.3)
            recorded = native.observed()
            names = {recorded["codes"][code][0] for _, code, _, own in recorded["tree"]}
            # One line after the other: without a buffer, a line is several writes.
            if child:
                os.waitpid(child, 0)
            print("in_thread" in names, recorded["periods"] > 10, flush=True)
            """)
        ended = child("threads.py", cwd=self.folder)
        self.assertEqual((ended.stdout, ended.stderr), ("True True\n" * 2, ""))


@needs_jit
class Page(InFolder):
    """The page of a recording."""

    def setUp(self):
        super().setUp()
        self.write("program.py", PROGRAM)

    def page(self, *words, **variables):
        ended = child("-m", "cladonia", "--report", "out.html", *words, "program.py", cwd=self.folder, **variables)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("", "", 0))
        return (self.folder / "out.html").read_text()

    def test_it_is_one_file_that_needs_nothing_else(self):
        text = self.page()
        self.assertNotRegex(text, r'(?:src|href)="(?!#)')
        self.assertNotRegex(text, r"@import|url\(")
        self.assertIn("default-src 'none'", text)
        self.assertEqual([file.name for file in self.folder.glob("*html*")], ["out.html"])

    def test_the_functions_times_add_up_to_the_total(self):
        text = self.page()
        period, periods = re.search(r"which represent ([\d,]+) periods of (\d+) ms", text).group(2, 1)
        total = int(periods.replace(",", ""))
        rows = [int(count) for count in re.findall(r'<tr data-time="(\d+)"', text)]
        self.assertEqual(sum(rows), total)
        seconds = re.search(r'<div class="bar".*?</div>', text, re.S)[0]
        parts = [float(part) for part in re.findall(r": ([\d.]+) s,", seconds)]
        self.assertAlmostEqual(sum(parts), total * int(period) / 1000, places=6)

    def test_it_says_what_was_native_and_what_fell_back(self):
        text = html.unescape(self.page())
        self.assertRegex(text, r"\d+ of \d+ hot functions (?:are|is) native; \d+ keeps? falling back")
        self.assertRegex(text, r"Compiling took [\d.]+ s beside the program and [\d.]+ s of its own time")
        for name in ("total", "raw", "scale", "work"):
            self.assertRegex(text, rf'<details class="function" id="f\d+"><summary><b>{name}</b>')
        self.assertIn('class="line k-raw"', text)
        self.assertIn("v1: Object = arg 0", text)
        self.assertRegex(text, r"Dispatches on the object, as the interpreter does: `[a-z_]+`")

    def test_what_a_program_is_called_is_escaped(self):
        (self.folder / "program.py").rename(self.folder / "<b>&x.py")
        ended = child("-m", "cladonia", "--report", "out.html", "<b>&x.py", "<i>", cwd=self.folder)
        self.assertEqual(ended.returncode, 1 if ended.stderr else 0)
        text = (self.folder / "out.html").read_text()
        self.assertIn("<h1>&lt;b&gt;&amp;x.py</h1>", text)
        self.assertNotIn("<b>&x.py", text)

    def test_a_program_that_raises_or_exits_gets_its_page(self):
        self.write("program.py", "import sys\nsys.exit(3)\n")
        ended = child("-m", "cladonia", "--report", "out.html", "program.py", cwd=self.folder)
        self.assertEqual(ended.returncode, 3)
        self.assertIn("too short to be sampled", (self.folder / "out.html").read_text())

    @needs_hook
    def test_the_variable_alone_does_it_and_children_write_beside(self):
        self.write("parent.py", """\
            import subprocess, sys
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            """)
        child("parent.py", cwd=self.folder, CLADONIA_REPORT=str(self.folder / "out.html"))
        pages = sorted(file.name for file in self.folder.glob("*.html"))
        self.assertEqual(len(pages), 2)
        self.assertRegex(" ".join(pages), r"^out\.\d+\.html out\.html$|^out\.html out\.\d+\.html$")

    def test_where_it_cannot_be_written_the_program_ends_as_ever(self):
        ended = child("-m", "cladonia", "--report", "none/such/out.html", "-c", "print(1)", cwd=self.folder)
        self.assertEqual((ended.stdout, ended.returncode), ("1\n", 0))
        self.assertRegex(ended.stderr, r"^cladonia: the report can't be written: .*\n$")

    def test_from_inside_a_program(self):
        self.write("inside.py", """\
            import cladonia
            cladonia.enable()
            def f(n):
                t = 0
                for i in range(n):
                    t += i
                return t
            with cladonia.report("block.html"):
                for _ in range(3000):
                    f(100)
            print(open("block.html").read().count("<h1>inside.py</h1>"))
            print(cladonia.report("later.html").write(), cladonia.report("end.html").__class__.__name__)
            """)
        ended = child("inside.py", cwd=self.folder)
        self.assertEqual((ended.stdout, ended.stderr), ("1\nTrue Report\n", ""))
        self.assertTrue((self.folder / "end.html").exists())

    def test_without_the_jit_it_says_why_there_is_none(self):
        ended = child("-c", "import cladonia; print(cladonia.report('x.html').write())", cwd=self.folder, CLADONIA_OFF="1")
        self.assertEqual((ended.stdout, ended.stderr), ("False\n", ""))


class Unasked(InFolder):
    def test_nothing_is_imported_unless_it_is_asked_for(self):
        show = "import sys; print(*sorted(name for name in sys.modules if name.startswith('cladonia')))"
        said = child("-m", "cladonia", "-c", show).stdout.split()
        self.assertLessEqual(set(said), {"cladonia", "cladonia._cli", "cladonia._native", "cladonia._options", "cladonia._start", "cladonia._cladonia",
                                         "cladonia._interpreted"})

    @needs_jit
    def test_no_thread_is_started_and_no_signal_is_heard_unless_it_is_asked_for(self):
        show = ("import os, signal; print(signal.getsignal(signal.SIGPROF), "
                "[open(f'/proc/self/task/{t}/comm').read() for t in os.listdir('/proc/self/task')].count('cladonia-look\\n'))")
        self.assertEqual(child("-m", "cladonia", "-c", show).stdout, "0 0\n")
        # A thread has its name a moment after its start.
        wait = f"import time\nfor _ in range(100):\n    time.sleep(0.02)\n    if {show[show.index('['):-1]}: break\n"
        asked = child("-m", "cladonia", "--report", "out.html", "-c", "import os\n" + wait + show, cwd=self.folder).stdout
        self.assertTrue(asked.endswith(" 1\n"), asked)


@needs_jit
class Templates(unittest.TestCase):
    """The template engine of pages."""

    def render(self, template, **context):
        from cladonia import _native

        return _native.load().render(template, context)

    def test_values_are_shown_and_escaped(self):
        rows = [{"name": "<a>", "n": 1}, {"name": 'b"', "n": None}]
        text = self.render("{% for r in rows %}{{ r.name }}={{ r.n }};{% endfor %}{{ raw|safe }}{{ yes }}{{ x }}", rows=rows, raw="<i>", yes=True, x=1.5)
        self.assertEqual(text, "&lt;a&gt;=1;b&quot;=None;<i>True1.5")

    def test_what_is_wrong_is_a_value_error(self):
        nested = []
        nested.append(nested)
        for template, context in (("{{ missing }}", {}), ("{% for %}", {}), ("{{ x }}", {"x": object()}), ("{{ x }}", {"x": {1: 2}}), ("{{ x }}", {"x": nested})):
            with self.subTest(template=template), self.assertRaises(ValueError):
                self.render(template, **context)


@needs_jit
class Explained(InFolder):
    def test_explain_prints_what_the_page_says(self):
        self.write("explain.py", """\
            import cladonia
            def poly(x):
                y = x * 2.5
                return y + 1.0
            def cold(x):
                return x
            class Body:
                pass
            for k in range(50):
                poly(k + 0.5)
            cladonia.compile(poly)
            for k in range(30):
                poly(k + 0.5)
            cladonia.explain(poly)
            cladonia.explain(cold)
            cladonia.disable()
            cladonia.explain(poly)
            """)
        said = child("explain.py", cwd=self.folder).stdout
        self.assertIn("poly (", said)
        self.assertIn("its calls are machine code", said)
        self.assertRegex(said, r"3\s+raw +\|     y = x \* 2.5")
        self.assertIn("cold runs in the interpreter", said)
        self.assertIn("poly runs in the interpreter: its machine code was discarded", said)

    def test_a_function_that_loses_is_warned_of_once_with_the_reason(self):
        self.write("loses.py", """\
            import cladonia, warnings
            warnings.simplefilter("always")
            @cladonia.jit
            def upper(s):
                return s.upper()
            @cladonia.jit
            def summed(n):
                t = 0
                for i in range(n):
                    t += i
                return t
            for _ in range(5000):
                upper("abc")
                summed(50)
            """)
        said = child("loses.py", cwd=self.folder).stderr
        self.assertEqual(said.count("JitWarning"), 1)
        self.assertRegex(said, r"loses.py:3: JitWarning: @cladonia.jit on upper: each call \(\d+ so far\) takes some \d+ ns longer")

    def test_a_function_that_is_given_up_is_warned_of(self):
        self.write("given_up.py", """\
            import cladonia
            @cladonia.jit
            def find(d, key):
                return d[key]
            for k in range(5000):
                try:
                    find({}, k)
                except KeyError:
                    pass
            print(cladonia.why_not(find))
            """)
        ended = child("given_up.py", cwd=self.folder)
        self.assertIn("its exits cost more than its code saves", ended.stdout)
        self.assertEqual(ended.stderr.count("JitWarning: @cladonia.jit on find: it was given up: its exits cost more"), 1)


if __name__ == "__main__":
    unittest.main()
