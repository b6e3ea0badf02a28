"""The API without a JIT: everything stays interpreted, and each query is answered with the
reason."""

from __future__ import annotations


class NotCompiled(Exception):
    """A function can't be compiled; the message is the reason."""


class Interpreted:
    """Replaces the native module, with the same functions."""

    NotCompiled = NotCompiled

    def __init__(self, reason):
        self._reason = reason

    def available(self):
        return self._reason

    def interpreter(self):
        import platform

        return f"{platform.python_implementation()} {platform.python_version()}"

    def enable(self, threshold, force_exit, oracle, without, check_facts, compile_threads, cache):
        pass

    def disable(self):
        pass

    def compile(self, f):
        raise NotCompiled(self._reason)

    def is_compiled(self, f):
        return False

    def why_not(self, f):
        return self._reason

    def stats(self):
        return {
            "available": self._reason,
            "build": "unknown",
            "units": 0,
            "entries": 0,
            "exits": [],
            "refused": {},
            "invalidated": 0,
            "waiting": 0,
            "compile_beside_ms": 0.0,
            "stale": 0,
            "memory": {"library": 0, "heap": 0, "code": 0},
            "cache": {
                "folder": None,
                "units_found": 0,
                "units_missed": 0,
                "found": 0,
                "shared": 0,
                "missed": 0,
                "stored": 0,
                "bytes": 0,
                "errors": 0,
                "error": None,
            },
            "compile_ms": 0.0,
            "oracle": {"units": 0, "entries": 0},
            "coverage": {
                "functions_eligible": 0,
                "functions_compiled": 0,
                "refusals": {},
                "units_entered": 0,
                "native_calls": 0,
                "interpreted_calls": 0,
                "native_loop_iterations": 0,
                "interpreted_loop_iterations": 0,
            },
        }

    def functions(self):
        return []

    def live(self):
        return {
            "on": False,
            "units": 0,
            "units_live": 0,
            "units_waiting": 0,
            "invalidated": 0,
            "exits": 0,
            "entries": 0,
            "iterations": 0,
            "interpreted_calls": 0,
            "interpreted_iterations": 0,
            "queue": 0,
            "compile_seconds": 0.0,
            "compile_beside_seconds": 0.0,
            "longest_stall_seconds": 0.0,
            "code_bytes": 0,
            "refused": 0,
        }

    def observe(self, samples):
        pass

    def observed(self):
        return None

    def choose(self, only, left_out):
        pass

    def advise(self, f):
        pass

    def soon(self, f):
        f()

    def name_code(self, map, dump, debugger):
        pass

    def compile_program(self, source, filename, has_cookie):
        return compile(source if has_cookie else source.decode(), filename, "exec", dont_inherit=True)

    def annotate(self, f, types, classes):
        raise NotCompiled(self._reason)

    def dump(self, f, stage):
        raise NotCompiled(self._reason)

    def inspect(self, f):
        raise NotCompiled(self._reason)
