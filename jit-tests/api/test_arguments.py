"""Every bad argument raises an exception that names it, before anything reaches the native
module."""

import cladonia
from cladonia import _options
from support import WithRecorder


def f():
    pass


class Arguments(WithRecorder):
    def test_a_bad_threshold_is_named(self):
        for bad, kind in [("10", TypeError), (1.0, TypeError), (True, TypeError), (-1, ValueError), (2**40, ValueError)]:
            with self.subTest(bad=bad), self.assertRaisesRegex(kind, "threshold"):
                cladonia.enable(threshold=bad)

    def test_a_bad_number_of_threads_is_named(self):
        for bad, kind in (("1", TypeError), (True, TypeError), (-1, ValueError), (1000, ValueError)):
            with self.subTest(bad=bad), self.assertRaisesRegex(kind, "compile_threads"):
                cladonia.enable(compile_threads=bad)

    def test_a_bad_force_exit_is_named(self):
        for bad, kind in [(1, TypeError), ("", ValueError), ("second", ValueError), ("seed", ValueError), ("seed:", ValueError),
                          ("seed:x", ValueError), ("seed:-1", ValueError), ("one-by-one:1.5", ValueError), ("first:1", ValueError)]:
            with self.subTest(bad=bad), self.assertRaisesRegex(kind, "force_exit"):
                cladonia.enable(force_exit=bad)

    def test_a_bad_oracle_is_named(self):
        with self.assertRaisesRegex(TypeError, "oracle must be a bool, not int"):
            cladonia.enable(oracle=1)

    def test_a_bad_pass_is_named(self):
        for bad, kind in [(1, TypeError), ("", ValueError), ("paths,", ValueError), ("dce", ValueError), ("paths split", ValueError)]:
            with self.subTest(bad=bad), self.assertRaisesRegex(kind, "without"):
                cladonia.enable(without=bad)

    def test_a_bad_stage_is_named(self):
        for bad, kind in [(None, TypeError), ("HIR", ValueError), ("", ValueError)]:
            with self.subTest(bad=bad), self.assertRaisesRegex(kind, "stage"):
                cladonia.dump(f, bad)

    def test_what_is_not_a_python_function_is_refused_by_name(self):
        for bad in (len, 5, None, int, f.__code__, "f"):
            for ask in (cladonia.compile, cladonia.is_compiled, cladonia.why_not, lambda f: cladonia.dump(f, "hir")):
                with self.subTest(bad=bad), self.assertRaisesRegex(TypeError, "f must be a Python function"):
                    ask(bad)

    def test_jit_refuses_bad_options_and_bad_functions(self):
        with self.assertRaisesRegex(TypeError, "strict"):
            cladonia.jit(strict=1)
        with self.assertRaisesRegex(TypeError, "eager"):
            cladonia.jit(eager=True)
        with self.assertRaisesRegex(TypeError, "f must be"):
            cladonia.jit(int)

    def test_nothing_bad_reached_the_native_module(self):
        self.test_a_bad_threshold_is_named()
        self.test_a_bad_number_of_threads_is_named()
        self.test_a_bad_force_exit_is_named()
        self.test_a_bad_oracle_is_named()
        self.test_a_bad_pass_is_named()
        self.test_a_bad_stage_is_named()
        self.test_what_is_not_a_python_function_is_refused_by_name()
        self.assertEqual(self.native.calls, [])


class Passing(WithRecorder):
    def test_good_arguments_pass_unchanged(self):
        cladonia.enable()
        cladonia.enable(0, "seed:7")
        cladonia.enable(threshold=5, force_exit="one-by-one:0")
        cladonia.enable(oracle=True)
        cladonia.enable(without="paths, split", check_facts=True)
        cladonia.enable(compile_threads=3)
        cladonia.disable()
        cladonia.dump(f, "lir")
        cache = _options.cache_folder()
        self.assertEqual(self.native.calls, [
            ("enable", None, None, False, None, False, None, cache), ("enable", 0, "seed:7", False, None, False, None, cache),
            ("enable", 5, "one-by-one:0", False, None, False, None, cache), ("enable", None, None, True, None, False, None, cache),
            ("enable", None, None, False, "paths, split", True, None, cache), ("enable", None, None, False, None, False, 3, cache),
            ("disable",), ("dump", f, "lir")])

    def test_methods_and_static_methods_stand_for_their_function(self):
        class C:
            def m(self):
                pass

            @staticmethod
            def s():
                pass

        cladonia.compile(C().m)
        cladonia.is_compiled(C.__dict__["s"])
        self.assertEqual(self.native.calls, [("compile", C.m), ("is_compiled", C.s)])

    def test_jit_gives_the_function_itself_back(self):
        self.assertIs(cladonia.jit(f), f)
        self.assertIs(cladonia.jit()(f), f)
        self.assertIs(cladonia.jit(strict=True)(f), f)
        self.assertEqual(self.native.calls, [("compile", f), ("advise", f)] * 3)

    def test_jit_swallows_a_refusal_unless_strict(self):
        def g():
            pass

        g.refused = True
        self.assertIs(cladonia.jit(g), g)
        with self.assertRaisesRegex(self.native.NotCompiled, "because"):
            cladonia.jit(strict=True)(g)
