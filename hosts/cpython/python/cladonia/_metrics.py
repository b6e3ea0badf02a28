"""The counters as OpenMetrics text (https://prometheus.io/docs/specs/om/open_metrics_spec/)."""

from __future__ import annotations

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

#: Name, kind, unit, help text, and the key of `live()`.
FAMILIES = (
    ("cladonia_enabled", "gauge", "", "1 while hot code is compiled and entered, else 0.", "on"),
    ("cladonia_units", "counter", "", "Units of machine code compiled.", "units"),
    ("cladonia_units_live", "gauge", "", "Units of machine code that may be entered.", "units_live"),
    ("cladonia_units_waiting", "gauge", "", "Units of machine code that are kept because a stack may return into them.", "units_waiting"),
    ("cladonia_invalidations", "counter", "", "Units of machine code invalidated.", "invalidated"),
    ("cladonia_entries", "counter", "", "Entries into machine code.", "entries"),
    ("cladonia_iterations", "counter", "", "Loop iterations in machine code.", "iterations"),
    ("cladonia_interpreted_calls", "counter", "", "Interpreted calls that were counted.", "interpreted_calls"),
    ("cladonia_exits", "counter", "", "Exits from machine code to the interpreter.", "exits"),
    ("cladonia_compile_queue", "gauge", "", "Compiles that were ordered and not collected.", "queue"),
    ("cladonia_compile_seconds", "counter", "seconds", "Time in the compiler on the program's threads.", "compile_seconds"),
    ("cladonia_compile_beside_seconds", "counter", "seconds", "Time in the compiler beside the program.", "compile_beside_seconds"),
    ("cladonia_longest_stall_seconds", "gauge", "seconds", "The longest time for which the compiler blocked a thread of the program.",
     "longest_stall_seconds"),
    ("cladonia_code_bytes", "gauge", "bytes", "Machine code that may be entered.", "code_bytes"),
)


def text(native):
    """The text, with the terminator that the format requires."""
    counters = native.live()
    lines = []
    for name, kind, unit, said, key in FAMILIES:
        lines += [f"# TYPE {name} {kind}", *([f"# UNIT {name} {unit}"] if unit else []), f"# HELP {name} {said}"]
        value = counters[key]
        lines.append(f"{name}{'_total' if kind == 'counter' else ''} {int(value) if isinstance(value, bool) else value}")
    return "\n".join([*lines, "# EOF", ""])
