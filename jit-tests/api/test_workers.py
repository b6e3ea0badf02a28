"""Compiles with default options, and code that is generated beside the program: forks, process
ends, changes and full queues."""

import json
import sys
import unittest

from support import InFolder, child, needs_jit

# Waits until the JIT has done something, for a limited time, by running the code to be compiled;
# and a function to compile.
UNTIL = """if 1:
    import cladonia, os, sys, time
    def until(done, work, seconds=20):
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            work()
        return done()
    def compiled():
        return cladonia.stats()["coverage"]["functions_compiled"]
    def f(n):
        s = 0
        for i in range(n):
            s += i & 1
        return s
"""
SLOW = "100000000"


def program(text, *words, **variables):
    return child("-m", "cladonia", *words, "-c", UNTIL + text, **variables)


@needs_jit
class Choosing(InFolder):
    def test_numbers_are_compiled_soon_and_calls_of_c_late(self):
        ended = program("""
    def numbers(n):
        s = 0
        for i in range(n):
            s += i * i & 7
        return s
    def listing(x):
        return str(x) + repr(x) + hex(x)
    until(lambda: cladonia.is_compiled(numbers), lambda: numbers(2000))
    for i in range(3000):
        listing(i)
    print(cladonia.is_compiled(numbers), cladonia.is_compiled(listing))""")
        self.assertEqual(ended.stdout, "True False\n", ended.stderr)

    def test_a_running_loop_is_entered_in_its_first_call(self):
        ended = program("""
    def loop(n):
        s = 0
        for i in range(n):
            s += i & 3
        return s
    loop(20_000_000)
    print(cladonia.stats()["coverage"]["native_loop_entries"] > 0)""")
        self.assertEqual(ended.stdout, "True\n", ended.stderr)

    def test_what_pays_late_is_compiled_at_last(self):
        # An iteration saves little, and the code that never runs makes compiling expensive: when
        # the loop is weighed first, it has saved less than a hundredth of that.
        ended = program("""
    text = "def loop(n, d, x):\\n for i in range(n):\\n  'a' in d\\n if x:\\n" + "  x = x.a(x)[x]\\n" * 300
    names = {}
    exec(text, names)
    loop = names["loop"]
    print(until(lambda: cladonia.is_compiled(loop), lambda: loop(100_000, {}, None)))""")
        self.assertEqual(ended.stdout, "True\n", ended.stderr)

    def test_interpreted_code_resumes_generators_natively(self):
        # Each caller is too seldom called to be compiled; the interpreter's own loops and `yield from` would not look for the unit.
        ended = program("""
    def heavy(n):
        total = 0
        for i in range(n):
            for j in range(30):
                total = total * 3 + i * j & 0xffff
            yield total
    def delegating(n):
        yield from heavy(n)
    callers = []
    for _ in range(50):
        names = {"heavy": heavy}
        exec("def caller(n):\\n s = 0\\n for x in heavy(n):\\n  s += x\\n return s", names)
        callers.append(names["caller"])
    entries = lambda name: sum(unit["entries"] for f in cladonia.functions() if f["name"] == name for unit in f["units"])
    expected = sum(heavy(8))
    loops = lambda: [caller(8) for caller in callers] == [expected] * 50 or sys.exit("a wrong sum")
    print(until(lambda: entries("heavy") > 1000, loops))
    print(until(lambda: entries("delegating") > 100, lambda: [sum(delegating(8)) for _ in range(50)]))""")
        self.assertEqual(ended.stdout, "True\nTrue\n", ended.stderr)

    def test_a_function_is_not_given_up_for_functions_that_are_made_anew(self):
        # Each call of `outer` makes another `leaf`, which `main` calls and which is deallocated with the call.
        ended = program("""
    def outer(n):
        async def leaf(i):
            return i + 1
        async def main():
            total = 0
            for i in range(n):
                total += await leaf(i)
            return total
        coroutine = main()
        try:
            coroutine.send(None)
        except StopIteration as e:
            return e.value
    record = lambda: next((f for f in cladonia.functions() if f["name"].endswith("main")), {"units": [], "refused": None})
    outer(10)
    entries = lambda: sum(unit["entries"] for unit in record()["units"])
    for _ in range(3):
        print(until(lambda: entries() > 100, lambda: [outer(500) for _ in range(20)]), record()["refused"])
        for _ in range(300):
            outer(500)""", CLADONIA_COMPILE_THREADS="1")
        self.assertEqual(ended.stdout, "True None\n" * 3, ended.stderr)

    def test_a_function_is_not_given_up_for_exceptions_that_leave_it(self):
        # An iterator ends with an exception: one in twenty calls. C code calls it, as a loop could
        # have it inlined and end without an exception.
        ended = program("""
    class Counter:
        def __init__(self, n):
            self.i, self.n = 0, n
        def __iter__(self):
            return self
        def __next__(self):
            try:
                if self.i >= self.n:
                    raise StopIteration
                self.i += 1
            finally:
                total = self.i
            return total
    def work():
        total = 0
        for _ in range(500):
            total += sum(Counter(20))
        return total
    record = lambda: next((f for f in cladonia.functions() if f["name"].endswith("__next__")), {"exits": [], "refused": None})
    work()
    raised = lambda: sum(exit["count"] for exit in record()["exits"] if exit["reason"] == "raised")
    print(until(lambda: raised() > 5000, work), record()["refused"])""")
        self.assertEqual(ended.stdout, "True None\n", ended.stderr)

    def test_only_what_is_met_running_is_listened_to(self):
        ended = program("""
    def once():
        pass
    once()
    tool = next(number for number in range(6) if sys.monitoring.get_tool(number) == "cladonia")
    heard = lambda function: sys.monitoring.get_local_events(tool, function.__code__) != 0
    until(lambda: heard(f), lambda: f(1000))
    print(sys.monitoring.get_events(tool), heard(once), heard(f))
    cladonia.disable()
    sys.monitoring.use_tool_id(tool, "another")
    print(heard(f))""")
        self.assertEqual(ended.stdout, "0 False True\nFalse\n", ended.stderr)

    def test_a_threshold_that_is_given_later_counts_for_all_code(self):
        ended = program("""
    def seldom():
        return 1
    cladonia.enable(threshold=5)
    for _ in range(20):
        seldom()
    print(until(lambda: cladonia.is_compiled(seldom), seldom, 5))""")
        self.assertEqual(ended.stdout, "True\n", ended.stderr)

    def test_a_forked_child_looks_at_the_clock_as_well(self):
        ended = program("""
    end = time.process_time() + 1.5
    while time.process_time() < end:
        pass
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        print(until(lambda: cladonia.is_compiled(f), lambda: f(1000), 1.2), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    print(until(lambda: cladonia.is_compiled(f), lambda: f(1000), 5))""")
        self.assertEqual(ended.stdout, "True\nTrue\n", ended.stderr)

    def test_events_that_others_have_disabled_stay_so(self):
        ended = program("""
    starts = {}
    def on_start(code, offset):
        starts[code] = starts.get(code, 0) + 1
        return sys.monitoring.DISABLE
    sys.monitoring.use_tool_id(1, "another")
    sys.monitoring.register_callback(1, sys.monitoring.events.PY_START, on_start)
    sys.monitoring.set_events(1, sys.monitoring.events.PY_START)
    def listing(x):
        return str(x) + repr(x) + hex(x)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        listing(1)
    print(starts[listing.__code__])""")
        self.assertEqual(ended.stdout, "1\n", ended.stderr)

    def test_what_ends_while_a_unit_is_pending_ends_as_ever(self):
        for delay in ("next", "100000"):
            ended = program("""
    import weakref
    class Seen:
        pass
    def makes(n):
        seen = Seen()
        def inner(i):
            return seen, i
        for i in range(n):
            inner(i)
        return weakref.ref(seen)
    print(sum(makes(3)() is not None for _ in range(500)))""", "--threshold", "30", CLADONIA_DELAY=delay)
            with self.subTest(delay=delay):
                self.assertEqual(ended.stdout, "0\n", ended.stderr)

    @unittest.skipIf(sys.version_info >= (3, 14), "there an exception that `finally` raises again leaves the frame at little cost")
    def test_what_ends_in_exceptions_is_given_up_and_the_reason_is_on_record(self):
        # C code calls it, so that no compiled caller gains by its unit; and it saves less than an exception costs.
        ended = program("""
    def raises(d, k):
        try:
            return d[k] + 1
        finally:
            d = None
    def caller(d):
        for k in range(100):
            try:
                next(map(raises, (d,), (k,)))
            except KeyError:
                pass
    full = {k: k for k in range(100)}
    print(until(lambda: cladonia.is_compiled(raises), lambda: caller(full)))
    reason = lambda: "exits cost more" in (cladonia.why_not(raises) or "")
    print(until(reason, lambda: caller({})))""")
        self.assertEqual(ended.stdout, "True\nTrue\n", ended.stderr)

    def test_methods_of_several_classes_are_compiled_for_them_at_once(self):
        ended = program("""
    class A:
        def __init__(self): self.x, self.y = 1, 2
        def total(self, n):
            s = 0
            for i in range(n):
                s += self.x + self.y * i
            return s
    class B(A):
        def __init__(self): self.z, self.y, self.x = 0, 3, 4
    class C(A):
        def __init__(self): self.y, self.x = 5, 6
    things = [A(), B(), C()]
    def work():
        for thing in things:
            thing.total(20)
    until(lambda: cladonia.is_compiled(A.total), work)
    for _ in range(3000):
        work()
    stats = cladonia.stats()
    print(stats["units"] <= 3, sum(e["count"] for e in stats["exits"] if e["function"] == "A.total" and e["reason"] == "type") < 50)""")
        self.assertEqual(ended.stdout, "True True\n", ended.stderr)

    def test_what_is_loaded_from_attributes_and_has_several_classes_is_compiled_for_them_at_once(self):
        ended = program("""
    class A:
        def __init__(self): self.x, self.y = 1, 2
    class B:
        def __init__(self): self.z, self.y, self.x = 0, 3, 4
    class Holder:
        def __init__(self, thing): self.thing = thing
        def total(self, n):
            s = 0
            for i in range(n):
                s += self.thing.x + self.thing.y * i
            return s
    holders = [Holder(A()), Holder(B())]
    def work():
        for holder in holders:
            for _ in range(20):
                holder.total(4)
    until(lambda: cladonia.is_compiled(Holder.total), work)
    for _ in range(200):
        work()
    print([e for e in cladonia.stats()["exits"] if e["function"] == "Holder.total" and e["reason"] == "type"])""")
        self.assertEqual(ended.stdout, "[]\n", ended.stderr)


@needs_jit
class Workers(InFolder):
    def test_the_program_goes_on_while_code_is_generated(self):
        ended = program("""
    started = time.monotonic()
    for _ in range(3000):
        f(100)
    print(time.monotonic() - started < 10, cladonia.is_compiled(f))""", CLADONIA_DELAY=SLOW)
        self.assertEqual(ended.stdout, "True False\n", ended.stderr)
        self.assertEqual(ended.returncode, 0)

    def test_compile_waits(self):
        for delay in ("0", "20000"):
            ended = program("""
    for _ in range(500):
        f(100)
    cladonia.compile(f)
    print(cladonia.is_compiled(f), f(7))""", CLADONIA_DELAY=delay)
            with self.subTest(delay=delay):
                self.assertEqual(ended.stdout, "True 3\n", ended.stderr)

    def test_what_changes_between_the_order_and_the_installation_counts(self):
        ended = program("""
    step = 1
    def f(n):
        s = 0
        for i in range(n):
            s += step
        return s
    before = [f(100) for _ in range(200)]
    step = 2
    after = [f(100) for _ in range(5000)]
    step = 3
    last = [f(100) for _ in range(5000)]
    is_stale = until(lambda: cladonia.stats()["stale"] > 0, lambda: f(100))
    print(set(before), set(after), set(last), is_stale, f(100))""", "--threshold", "50", CLADONIA_DELAY="100000")
        self.assertEqual(ended.stdout, "{100} {200} {300} True 300\n", ended.stderr)

    def test_both_sides_of_a_fork_go_on_and_nobody_is_warned(self):
        text = """
    import warnings
    warnings.simplefilter("error")
    for _ in range(40):
        f(100)
    for number in range(5):
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            print("child", until(lambda: cladonia.is_compiled(f), lambda: f(100)), f(5), flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
        f(100)
    print("parent", until(lambda: cladonia.is_compiled(f), lambda: f(100)), f(5))"""
        for delay in ("0", "3000", "next"):
            for words in (), ("--threshold", "30"):
                ended = program(text, *words, CLADONIA_DELAY=delay)
                with self.subTest(delay=delay, words=words):
                    self.assertEqual(ended.stdout, "child True 2\n" * 5 + "parent True 2\n", ended.stderr)

    def test_handlers_of_a_fork_may_compile(self):
        ended = program("""
    def g(n):
        s = 0
        for i in range(n):
            s += i & 1
        return s
    def hot():
        for _ in range(3000):
            g(50)
    os.register_at_fork(before=hot, after_in_parent=hot, after_in_child=hot)
    pid = os.fork()
    if not pid:
        os._exit(g(9))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), g(9))""", CLADONIA_DELAY="500")
        self.assertEqual(ended.stdout, "4 4\n", ended.stderr)

    def test_a_fork_by_c_code_leaves_a_child_that_compiles(self):
        ended = program("""
    import ctypes
    def g(n):
        s = 0
        for i in range(n):
            s += i & 3
        return s
    for _ in range(40):
        f(100)
    sys.stdout.flush()
    pid = ctypes.PyDLL(None).fork()
    if not pid:
        print("child", until(lambda: cladonia.is_compiled(g), lambda: g(100)), f(5), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    print("parent", until(lambda: cladonia.is_compiled(g), lambda: g(100)), f(5))""", "--threshold", "30", CLADONIA_DELAY="3000")
        self.assertEqual(ended.stdout, "child True 2\nparent True 2\n", ended.stderr)

    def test_many_functions_at_once(self):
        ended = program("""
    space = {}
    exec("\\n".join(f"def f{n}(x):\\n    return x * {n} + {n}" for n in range(10000)), space)
    functions = [space[f"f{n}"] for n in range(10000)]
    def work():
        for f in functions:
            f(1)
    print(until(lambda: compiled() > 500, work), all(f(3) == 4 * n for n, f in enumerate(functions)))""", "--threshold", "2")
        self.assertEqual(ended.stdout, "True True\n", ended.stderr)

    def test_nothing_is_waited_for_at_the_end(self):
        ended = program("""
    def f(n):
        return n * n + 1
    for _ in range(3000):
        f(3)
    print(f(3))""", "--threshold", "100", CLADONIA_DELAY=SLOW)
        self.assertEqual((ended.stdout, ended.returncode), ("10\n", 0), ended.stderr)

    def test_threads_take_turns(self):
        ended = program("""
    import threading
    def f(n):
        s = 0
        for i in range(n):
            s += i & 3
        return s
    results = []
    def run():
        results.append([f(n) for n in range(2000)])
    threads = [threading.Thread(target=run) for _ in range(6)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(all(r == results[0] for r in results), results[0][1999])""", "--threshold", "30", CLADONIA_DELAY="1000")
        self.assertEqual(ended.stdout, "True 2997\n", ended.stderr)

    def test_stalls_are_counted(self):
        file = self.folder / "stats.json"
        program("""
    def f(n):
        s = 0
        for i in range(n):
            s += i & 3
        return s
    until(lambda: cladonia.is_compiled(f), lambda: f(1000))""", "--stats", str(file))
        stats = json.loads(file.read_text())
        self.assertGreater(stats["stalls"]["longest_ms"], 0)
        self.assertGreater(sum(stats["stalls"]["counts"].values()), 0)
        self.assertGreater(stats["compile_beside_ms"], 0)

    def test_memory_is_given_back_when_there_is_nothing_to_compile(self):
        ended = program("""
    memory = lambda: cladonia.stats()["memory"]
    before = memory()["code"], memory()["heap"] < 2**20
    # Long enough for the compiler to need megabytes.
    lines = "".join(f"        if i & {k}: s += i * {k}\\n" for k in range(300))
    exec("def long(n):\\n    s = 0\\n    for i in range(n):\\n" + lines + "    return s\\n")
    heap = [0]
    until(lambda: cladonia.is_compiled(long), lambda: (long(100), heap.append(memory()["heap"])))
    is_less = lambda: memory()["heap"] < max(heap) / 2
    print(before, memory()["code"] > 0, memory()["library"] > 0, until(is_less, lambda: time.sleep(0.1)), long(1))
    print(max(heap), memory(), file=sys.stderr)""")
        self.assertEqual(ended.stdout, "(0, True) True True True 0\n", ended.stderr)

    def test_without_threads_there_are_none(self):
        ended = program("""
    def f(n):
        s = 0
        for i in range(n):
            s += i & 3
        return s
    until(lambda: cladonia.is_compiled(f), lambda: f(1000))
    print(len(os.listdir("/proc/self/task")), cladonia.stats()["compile_beside_ms"], cladonia.is_compiled(f))""", "--compile-threads", "0")
        self.assertEqual(ended.stdout, "1 0.0 True\n", ended.stderr)


if __name__ == "__main__":
    unittest.main()
