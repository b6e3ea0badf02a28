"""The report's section on one function, as text: `cladonia.explain`."""

from __future__ import annotations

from cladonia._report import _model

#: The kind of execution of a line, printed before it.
MARKS = {"raw": "raw", "boxed": "boxed", "general": "general", "interpreted": "interp", "native": "native", "": ""}


def text(native, function):
    """The text."""
    reason = native.available()
    name = function.__qualname__
    if reason is not None:
        return f"{name}: everything runs in the interpreter: {reason}"
    row = _record(native, function)
    if row is not None and row["compiled"] and not row["native"] and not native.live()["on"]:
        return f"{name} runs in the interpreter: its machine code was discarded when the JIT was turned off; `cladonia.enable()` turns it on"
    if row is None:
        return f"{name} runs in the interpreter: none of its calls was counted yet. It is compiled once that is likely to pay; `cladonia.compile` does it now."
    shown = _model._row(row, None, (), 0.0, 0)
    texts = _model._texts(dict(row, function=function), True) if row["native"] else {"why": ""}
    detail = _model.detail(shown, texts, [], {}, 0.0)
    lines = [f"{name} ({row['file']}:{row['line']}): {_said(shown['status'])}"]
    lines.append(f"  {row['entries']:,} calls entered machine code, {row['interpreted_calls']:,} interpreted calls were counted; "
                 f"{row['iterations']:,} loop iterations in machine code, {shown['exits']:,} exits")
    if row["entries"] or row["iterations"]:
        lines.append(f"  estimated gain {row['gain_seconds']:+.3f} s; {row['code_bytes'] or sum(unit['bytes'] for unit in row['units']):,} bytes of machine code")
    for item in detail["advice"]:
        lines.append(f"  - {item['text']}" + (f" What would help: {item['help']}." if item["help"] else ""))
    if detail["source"]:
        lines.append("")
        lines += [_source_line(line) for line in detail["source"]]
    plan = next((form["text"] for form in detail["forms"] if form["name"].startswith("plan")), "")
    if plan:
        lines += ["", "attribute accesses and names:", *("  " + line for line in plan.rstrip().splitlines()[1:])]
    return "\n".join(lines)


def _record(native, function):
    code = function.__code__
    place = code.co_qualname, code.co_filename, code.co_firstlineno
    found = [row for row in native.functions() if (row["name"], row["file"], row["line"]) == place]
    # Of several functions created at one place, the busiest.
    return max(found, key=lambda row: (row["function"] is function, row["native"], row["entries"] + row["interpreted_calls"]), default=None)


def _said(status):
    return {"native": "its calls are machine code", "loop native": "a loop of it is machine code", "never entered": "it has machine code, which was never entered", "given up": "given up after it was compiled",
            "refused": "not compiled", "interpreted": "interpreted"}[status]


def _source_line(line):
    exits = f"{line['exits']} exits" if line["exits"] else ""
    return f"  {line['number']:>5} {MARKS[line['kind']]:>7} {exits:>12} | {line['text']}".rstrip()
