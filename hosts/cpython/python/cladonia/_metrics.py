"""The counters as OpenMetrics text (https://prometheus.io/docs/specs/om/open_metrics_spec/)."""

from __future__ import annotations

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

#: Name, kind, unit, what it says, and the key of `live()`.
FAMILIES = (
    ("cladonia_enabled", "gauge", "", "Whether hot code is compiled and entered.", "on"),
    ("cladonia_units", "counter", "", "Pieces of machine code made.", "units"),
    ("cladonia_units_live", "gauge", "", "Pieces of machine code that may be entered.", "units_live"),
    ("cladonia_units_waiting", "gauge", "", "Pieces of machine code that are kept since a stack may return into them.", "units_waiting"),
    ("cladonia_invalidations", "counter", "", "Pieces of machine code thrown away.", "invalidated"),
    ("cladonia_entries", "counter", "", "Entries into machine code.", "entries"),
    ("cladonia_iterations", "counter", "", "Turns of loops in machine code.", "iterations"),
    ("cladonia_interpreted_calls", "counter", "", "Interpreted calls, as far as they were counted.", "interpreted_calls"),
    ("cladonia_exits", "counter", "", "Times that machine code went back to the interpreter.", "exits"),
    ("cladonia_compile_queue", "gauge", "", "Compiles that were ordered and not collected.", "queue"),
    ("cladonia_compile_seconds", "counter", "seconds", "Time in the compiler on the program's threads.", "compile_seconds"),
    ("cladonia_compile_beside_seconds", "counter", "seconds", "Time in the compiler beside the program.", "compile_beside_seconds"),
    ("cladonia_longest_stall_seconds", "gauge", "seconds", "The longest time that the compiler kept a thread of the program from its work.",
     "longest_stall_seconds"),
    ("cladonia_code_bytes", "gauge", "bytes", "Machine code that may be entered.", "code_bytes"),
)


def text(native):
    """The text, which ends as the format asks."""
    counters = native.live()
    lines = []
    for name, kind, unit, said, key in FAMILIES:
        lines += [f"# TYPE {name} {kind}", *([f"# UNIT {name} {unit}"] if unit else []), f"# HELP {name} {said}"]
        value = counters[key]
        lines.append(f"{name}{'_total' if kind == 'counter' else ''} {int(value) if isinstance(value, bool) else value}")
    return "\n".join([*lines, "# EOF", ""])
