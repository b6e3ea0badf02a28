"""Selects the implementation of the API: the native module, or `_interpreted` with the reason why
the native one can't be used.

Separate so that importing the package loads no shared library.
"""

from __future__ import annotations

#: The versions of CPython with a native module.
SUPPORTED = ((3, 13), (3, 14), (3, 15))
#: Those of them where it is used only if `CLADONIA_EXPERIMENTAL` is set.
EXPERIMENTAL = ()

_found = None


def load():
    """The module that implements the API, selected once per process."""
    global _found
    if _found is None:
        _found = _choose()
    return _found


def _choose():
    import os

    if os.environ.get("CLADONIA_OFF", "0") not in ("", "0"):
        return _without("turned off by CLADONIA_OFF")
    reason = _wrong_python()
    if reason is not None:
        return _without(reason)
    try:
        from cladonia import _cladonia
    except ImportError as error:
        return _without(f"the native module can't be loaded: {error}")
    reason = _cladonia.available()
    return _cladonia if reason is None else _without(reason)


def type_class():
    """The class `Type`. The type lattice needs no working JIT, only the native module. If that
    can't be loaded, raises ImportError with the reason.
    """
    reason = _wrong_python()
    if reason is not None:
        raise ImportError(f"cladonia.Type can't be had: {reason}")
    from cladonia import _cladonia

    return _cladonia.type_class()


def _wrong_python():
    """The reason why this interpreter can't load the native module. Other reasons come from
    `available()`."""
    import os
    import sys

    version = sys.version_info[:2]
    wanted = "%d.%d to %d.%d" % (*SUPPORTED[0], *SUPPORTED[-1])
    if sys.implementation.name != "cpython":
        return f"Cladonia needs CPython {wanted}; this is {sys.implementation.name}"
    if version not in SUPPORTED:
        return f"Cladonia needs CPython {wanted}; this is %d.%d" % version
    if "t" in sys.abiflags:
        return "Cladonia does not support the free-threaded build of CPython"
    if "d" in sys.abiflags:
        return "Cladonia does not support debug builds of CPython"
    if version in EXPERIMENTAL and os.environ.get("CLADONIA_EXPERIMENTAL", "0") in ("", "0"):
        return "compiling is not supported on CPython %d.%d yet; CLADONIA_EXPERIMENTAL=1 tries it" % version
    return None


def _without(reason):
    from cladonia._interpreted import Interpreted

    return Interpreted(reason)
