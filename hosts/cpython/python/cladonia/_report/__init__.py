"""The report of a run: one HTML page that needs no network. `start` begins to record, `write` ends
the recording and writes the page.

| module | contents |
| --- | --- |
| `_model` | the recording as the numbers and sentences of the page; each sum adds up |
| `_lines` | how each line of a function runs, from the compiler's text forms |
| `_advice` | performance problems of a function, and advice |
| `_draw` | the flame graph and the timeline, as SVG |
| `_page` | the page, from its template |
| `_explain` | the page's section on one function, as text |

Nothing here is imported before the first report.
"""

from __future__ import annotations

import os
import sys

from cladonia import _native


def start(samples=True):
    """Record from now on."""
    _native.load().observe(samples)


def write(path, argv=None):
    """Write the page of the recording since `start`, and end it. Return False if there is none."""
    native = _native.load()
    # Before the imports below: they are not part of the run.
    recorded = native.observed() if native.available() is None else None
    if recorded is None:
        return False
    from cladonia._progress import Progress
    from cladonia._report import _model, _page

    with Progress("cladonia: report") as progress:
        model = _model.build(recorded, native.stats(), argv if argv is not None else sys.argv, progress)
        text = _page.render(native, model)
    path = os.fspath(path)
    # Written to a temporary file and renamed, so that a reader sees the old page or the new one.
    beside = f"{path}.{os.getpid()}.new"
    with open(beside, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(beside, path)
    return True


class Report:
    """A recording that becomes a page: see `cladonia.report`."""

    def __init__(self, path, samples=True):
        if type(samples) is not bool:
            raise TypeError(f"samples must be a bool, not {type(samples).__name__}")
        import atexit

        self._path = os.path.abspath(os.fspath(path))
        self._owner = os.getpid()
        self._is_written = False
        start(samples)
        # Registered after the JIT's own handler, so it runs before.
        atexit.register(self._at_exit)

    def write(self) -> bool:
        """End the recording, and write the page. Return False if it was written before, or if
        there is no recording."""
        if self._is_written:
            return False
        import atexit

        self._is_written = True
        atexit.unregister(self._at_exit)
        return write(self._path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.write()

    def _at_exit(self):
        # A forked child leaves the page to its parent.
        if os.getpid() == self._owner:
            self.write()


def at_exit(file):
    """Record from now on, and write the page when this process ends; its children write theirs
    beside it, with their process id in the name."""
    import atexit

    from cladonia._start import beside_names

    name = beside_names("CLADONIA_REPORT", file)
    start()

    def page():
        try:
            written = write(name())
        except (OSError, ValueError) as error:
            print(f"cladonia: the report can't be written: {error}", file=sys.stderr)
            return
        if not written:
            print(f"cladonia: no report: {_native.load().available() or 'nothing was recorded'}", file=sys.stderr)

    atexit.register(page)
