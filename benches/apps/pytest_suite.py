"""A suite of tests under pytest, in this process: fixtures, parameters, marks, asserts that are
rewritten, failures that are shown."""

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

CONFTEST = """\
import pytest

@pytest.fixture(scope="module")
def store():
    return {"apples": 3, "pears": 0}

@pytest.fixture
def basket(store, request):
    made = dict(store)
    yield made
    made.clear()

@pytest.fixture(params=["plain", "upper"])
def style(request):
    return request.param
"""
TESTS = """\
import pytest

def total(basket):
    return sum(basket.values())

@pytest.mark.parametrize("more", range(8))
def test_total(basket, more):
    basket["plums"] = more
    assert total(basket) == 3 + more

@pytest.mark.parametrize("word, size", [("a", 1), ("bb", 2), ("", 0)])
def test_style(style, word, size):
    shown = word.upper() if style == "upper" else word
    assert len(shown) == size and shown.lower() == word

class TestBasket:
    def test_empty(self, basket):
        with pytest.raises(KeyError, match="nuts"):
            basket["nuts"]

    def test_wrong(self, basket):
        assert basket == {"apples": 3, "pears": 1}, "as it was"

    @pytest.mark.skipif(True, reason="not here")
    def test_skipped(self):
        pass

    @pytest.mark.xfail(raises=ZeroDivisionError)
    def test_expected(self, tmp_path_factory):
        1 / 0

def test_approx():
    assert 0.1 + 0.2 == pytest.approx(0.3)

def test_captured(capsys, monkeypatch):
    monkeypatch.setenv("STORE", "open")
    print("hello")
    assert capsys.readouterr().out == "hello\\n"
"""


class Outcomes:
    def __init__(self):
        self.seen = []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.seen.append((report.nodeid, report.outcome))


def work():
    folder = Path(tempfile.mkdtemp(prefix="suite"))
    known = set(sys.modules)
    try:
        (folder / "conftest.py").write_text(CONFTEST)
        for number in range(2):
            (folder / f"test_{number}.py").write_text(TESTS)
        outcomes = Outcomes()
        with contextlib.redirect_stdout(io.StringIO()):
            code = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(folder), "-c", "/dev/null", str(folder)], plugins=[outcomes])
    finally:
        shutil.rmtree(folder)
        for name in set(sys.modules) - known:
            if name.startswith(("test_", "conftest")):
                del sys.modules[name]
        sys.path[:] = [path for path in sys.path if path != str(folder)]
    return int(code), outcomes.seen
