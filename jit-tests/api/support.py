"""Shared by the API tests: running a program in a child, and a fake native module that records its
calls."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import cladonia
import harness
from cladonia import _native

REASON = cladonia.available()
needs_jit = unittest.skipIf(REASON, f"the JIT can't work here: {REASON}")
needs_hook = unittest.skipUnless(harness.installed(sys.executable), "the package is not installed, so cladonia.pth is not either")


class Recorder:
    """A fake native module: records its calls."""

    class NotCompiled(Exception):
        pass

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*args):
            self.calls.append((name, *args))
            if name == "compile" and getattr(args[0], "refused", False):
                raise self.NotCompiled("because")

        return call


class WithRecorder(unittest.TestCase):
    """Tests of the calls of the native module, with or without one."""

    def setUp(self):
        before = _native._found
        self.native = _native._found = Recorder()
        self.addCleanup(setattr, _native, "_found", before)


def child(*words, text=None, cwd=None, **variables):
    """Run this Python with `words`; its CompletedProcess, as text."""
    env = harness.environment(sys.executable, **variables)
    return subprocess.run([sys.executable, *map(str, words)], env=env, input=text or "", capture_output=True, text=True, cwd=cwd, timeout=60)


class InFolder(unittest.TestCase):
    """Tests that write programs into a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path
