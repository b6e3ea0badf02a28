"""Runs the tests of the Python API and of the command line.

    python jit-tests/api/run.py [--require-jit] [unittest's own options]
"""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import harness

if __name__ == "__main__":
    python = harness.find_python(sys.executable)
    reason = harness.unavailable(python)
    if "--require-jit" in sys.argv:
        sys.argv.remove("--require-jit")
        if reason:
            sys.exit(f"the JIT can't work in {python}: {reason}")
    elif reason:
        print(f"note: the JIT can't work in {python}, tests that need it are skipped: {reason}")
    if not harness.installed(python):
        sys.path.insert(0, str(harness.PACKAGE))
    # For code that is compiled in this process.
    os.environ["CLADONIA_CACHE"] = "off"
    unittest.main(module=None, argv=[sys.argv[0], "discover", "-s", str(HERE), "-p", "test_*.py", *sys.argv[1:]])
