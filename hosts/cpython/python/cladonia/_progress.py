"""A progress bar on a terminal during a long operation; nothing in a pipe."""

from __future__ import annotations

import sys
import time

WIDTH = 30
#: Seconds between two updates, and before the first one: a short operation needs no bar.
GAP = 0.1


class Progress:
    """A line on stderr that is drawn repeatedly and removed at the end."""

    def __init__(self, title, out=None):
        self._title = title
        self._out = out if out is not None else sys.stderr
        try:
            self._is_shown = bool(self._out) and self._out.isatty()
        except (AttributeError, ValueError):  # It is no file, or closed.
            self._is_shown = False
        self._drawn = None
        self._due = time.monotonic() + GAP

    def step(self, done, total, what=""):
        """`done` of `total` is done; `what` is next."""
        if not self._is_shown or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + GAP
        share = min(max(done / total, 0), 1) if total else 0
        filled = round(share * WIDTH)
        line = f"{self._title} [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%} {what}"[:100]
        self._out.write("\r" + line.ljust(self._drawn or 0))
        self._out.flush()
        self._drawn = len(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Remove the bar."""
        if self._drawn:
            self._out.write("\r" + " " * self._drawn + "\r")
            self._out.flush()
            self._drawn = None
