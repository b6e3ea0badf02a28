"""The warning that a function is slower as machine code."""

from __future__ import annotations

import warnings


class JitWarning(UserWarning):
    """A function that the user asked to compile is slower as machine code, or was given up."""


def slower(name, file, line, text):
    """Called by the runtime, once for a function."""
    warnings.warn_explicit(f"@cladonia.jit on {name}: {text}", JitWarning, file, line)
