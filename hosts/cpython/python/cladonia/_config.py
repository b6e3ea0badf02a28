"""The table `[tool.cladonia]` of a `pyproject.toml`: options for the program started beside it.

It is read where the JIT is requested (`python -m cladonia`, `CLADONIA_ON=1`, the pytest plugin),
from the current folder, or from the file that `CLADONIA_CONFIG` names. The environment and the
command line take precedence.
"""

from __future__ import annotations

import sys

#: Keys, and the variables that they set. The items of a list are joined by commas.
KEYS = {
    "threshold": "CLADONIA_THRESHOLD",
    "compile-threads": "CLADONIA_COMPILE_THREADS",
    "only": "CLADONIA_ONLY",
    "not": "CLADONIA_NOT",
    "without": "CLADONIA_WITHOUT",
    "report": "CLADONIA_REPORT",
    "stats": "CLADONIA_STATS",
    "top": "CLADONIA_TOP",
    "perf": "CLADONIA_PERF",
    "gdb": "CLADONIA_GDB",
    "off-signal": "CLADONIA_OFF_SIGNAL",
    "cache": "CLADONIA_CACHE",
}


def take(file, text, environ):
    """Put the file's options into the environment, unless set there. Return False for `on =
    false`."""
    import tomllib

    try:
        table = tomllib.loads(text.decode())["tool"]["cladonia"]
    except (ValueError, KeyError) as error:
        _say(file, error)
        return True
    is_on = table.pop("on", True)
    for key, value in table.items():
        if key not in KEYS:
            _say(file, f"[tool.cladonia] has no {key!r}; there are {', '.join(['on', *KEYS])}")
        elif isinstance(value, bool):
            environ.setdefault(KEYS[key], str(int(value)))
        elif isinstance(value, list):
            environ.setdefault(KEYS[key], ",".join(map(str, value)))
        else:
            environ.setdefault(KEYS[key], str(value))
    return bool(is_on)


def _say(file, what):
    print(f"cladonia: {file}: {what}", file=sys.stderr)
