"""Runs one file of CPython's suite in this process and writes one JSON line per test case.

    python cases.py test.test_int OUT.jsonl

Each line is written at the end of its case, so that a crash or a time limit loses only the case in
which it happened.
"""

import json
import sys
import time
import unittest


class Cases(unittest.TestResult):
    """Writes the outcome of each case; of several outcomes of one case (sub-tests) the worst
    counts."""

    ORDER = ("ok", "skip", "xfail", "xpass", "fail", "error")

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.ended = None
        self.detail = ""

    def startTest(self, test):
        super().startTest(test)
        self.ended, self.detail, self.started = "ok", "", time.monotonic()
        self.write({"start": test.id()})

    def stopTest(self, test):
        super().stopTest(test)
        self.write({"case": test.id(), "ended": self.ended, "detail": self.detail[-2000:],
                    "seconds": round(time.monotonic() - self.started, 3)})
        self.ended = None

    def write(self, row):
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def _note(self, test, ended, detail=""):
        if self.ended is None:  # setUpClass, setUpModule and their kind are outside any case
            self.write({"case": test.id(), "ended": ended, "detail": detail[-2000:], "seconds": 0})
        elif self.ORDER.index(ended) >= self.ORDER.index(self.ended):
            self.ended, self.detail = ended, detail

    def addError(self, test, err):
        self._note(test, "error", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self._note(test, "fail", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        self._note(test, "skip", reason)

    def addExpectedFailure(self, test, err):
        self._note(test, "xfail")

    def addUnexpectedSuccess(self, test):
        self._note(test, "xpass")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            failed = issubclass(err[0], test.failureException)
            self._note(test, "fail" if failed else "error", f"{subtest}\n{self._exc_info_to_string(err, test)}")


def main():
    module, file = sys.argv[1:]
    sys.argv[1:] = []
    from test import support

    # The defaults of regrtest.
    support.use_resources = ()
    support.verbose = 0
    support.max_memuse = 0
    with open(file, "w", encoding="utf-8") as out:
        result = Cases(out)
        try:
            suite = unittest.defaultTestLoader.loadTestsFromName(module)
        except unittest.SkipTest as skip:
            result.write({"case": module, "ended": "skip", "detail": str(skip), "seconds": 0})
        else:
            suite.run(result)
        result.write({"finished": True})


if __name__ == "__main__":
    main()
