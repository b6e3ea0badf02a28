"""A recording as the data of the page. All times are whole periods of the sampler, so parts add up
to their sums exactly."""

from __future__ import annotations

import linecache
import os
import sys
import time

from cladonia._report import _advice, _draw, _lines

#: The activities of a thread: label, explanation. The order is that of the bar.
DOING = {
    "machine": ("machine code", "code that Cladonia has compiled"),
    "helpers": ("Cladonia's helpers", "operations of machine code in the JIT's runtime, exits and counting included"),
    "c_native": ("C called by machine code", "the interpreter's objects and builtins, and C libraries, called by machine code"),
    "interpreter": ("interpreter", "the interpreter's loop"),
    "c_interpreted": ("C called by the interpreter", "objects, builtins and C libraries, called by interpreted code"),
    "unlocked": ("C without the GIL", "C code that lets other threads run: compression, hashing, input and output"),
    "compiler": ("compiler", "compiling, where the program waited for it"),
    "collector": ("garbage collector", "cyclic collections, with the finalizers that they ran"),
}

#: Share of all time that a hot function has in itself.
HOT = 0.005
#: Exits per 100 entries and iterations from which a function is said to keep falling back, and the
#: minimum number of exits.
FALLING_BACK, SOME_EXITS = 1, 100

MOST_ROWS = 250
MOST_DETAILS = 40
MOST_TEXT = 60_000
MOST_SOURCE = 400
MOST_EVENTS = 300
#: Maximum seconds for producing text forms.
PATIENCE = 3.0


#: Labels for builds whose symbols do not separate the interpreter's loop from its other code.
DOING_WITHOUT_LOOP = {
    "interpreter": ("interpreter", "the interpreter: its loop, objects and builtins, which can't be told apart in this build of Python"),
    "c_interpreted": ("C called by the interpreter", "C libraries, called by interpreted code"),
}


def build(recorded, stats, argv, progress=None):
    """The page's data, from the results of `observed()` and `stats()`."""
    labels = DOING if recorded["loop_known"] or not recorded["periods"] else DOING | DOING_WITHOUT_LOOP
    tree = _tree(recorded)
    period = recorded["period"]
    total = recorded["periods"]
    rows = _rows(recorded, tree, period, total)
    own = {name: sum(node["own"][place] for node in tree) for place, name in enumerate(recorded["doing"])}
    hot = [row for row in rows if total and row["periods"] >= HOT * total and row["is_function"]]
    details = _details(recorded, rows, progress)
    for row in rows:
        row["has_details"] = row["id"] in details
    shown = rows[:MOST_ROWS]
    rest = rows[MOST_ROWS:]
    if rest:
        shown.append(_others(rest, period, total))
    return {
        "title": _title(argv),
        "argv": " ".join(argv),
        "when": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "python": f"CPython {sys.version.split()[0]}",
        "pid": os.getpid(),
        "seconds": recorded["seconds"],
        "processor": total * period,
        "period_ms": period * 1e3,
        "periods": total,
        "samples": recorded["samples"],
        "not_sampled": recorded["not_sampled"],
        "lost": recorded["lost"],
        "summary": _summary(recorded, stats, rows, hot, own, period, total),
        "bar": [_part(name, own[name], period, total, labels) for name in recorded["doing"]],
        "functions": shown,
        "hot_percent": f"{HOT:.1%}",
        "falling_back": FALLING_BACK,
        "details": [details[row["id"]] for row in rows if row["id"] in details],
        "flame": _draw.flame(tree, recorded["codes"], period),
        "timeline": _draw.timeline(recorded, period),
        "events": _events(recorded),
        "events_left_out": max(len(recorded["events"]) - MOST_EVENTS, 0) + recorded["events_lost"],
        "refused": sorted(stats["refused"].items(), key=lambda item: -item[1]),
        "build": stats["build"],
    }


def _title(argv):
    name = os.path.basename(argv[0]) if argv else ""
    if name == "__main__.py":  # `python -m package`.
        name = os.path.basename(os.path.dirname(argv[0]))
    return {"": "a program", "-c": "python -c", "-": "standard input"}.get(name, name)


def _tree(recorded):
    """The tree of frames, without the command line's own frames below the program's, whose time
    counts for the root; all frames of the import system for one import are merged into one."""
    codes = recorded["codes"]
    hidden = {number for number, (_, file, _) in enumerate(codes) if _is_hidden(file)}
    imports = {number for number, (_, file, _) in enumerate(codes) if file.startswith("<frozen importlib")}
    tree, places = [], []
    for place, (parent, code, native, own) in enumerate(recorded["tree"]):
        above = places[parent] if place else 0
        if place and code in hidden and above == 0:
            places.append(0)
            tree[0]["own"] = [a + b for a, b in zip(tree[0]["own"], own)]
            continue
        if code in imports and tree and tree[above]["code"] in imports:
            places.append(above)
            tree[above]["own"] = [a + b for a, b in zip(tree[above]["own"], own)]
            continue
        # Two nodes of one code may have become siblings.
        known = next((child for child in tree[above]["children"] if tree[child]["key"] == (code, native)), None) if place else None
        if known is not None:
            places.append(known)
            tree[known]["own"] = [a + b for a, b in zip(tree[known]["own"], own)]
            continue
        places.append(len(tree))
        if place:
            tree[above]["children"].append(len(tree))
        tree.append({"key": (code, native), "code": code, "native": native, "own": list(own), "children": [], "parent": above})
    for node in reversed(tree):
        node["total"] = sum(node["own"]) + sum(tree[child]["total"] for child in node["children"])
    return tree


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _is_hidden(file):
    return file == "<frozen runpy>" or os.path.dirname(os.path.abspath(file)) == _PACKAGE if file else False


def _rows(recorded, tree, period, total):
    """A row for each function, and one for time outside of any: their times add up to the
    total."""
    doing, codes = recorded["doing"], recorded["codes"]
    times = {}
    for node in tree:
        above, native = node, node["native"]
        # Time in a C library counts for its caller.
        while above["native"] is None and above is not tree[0]:
            above = tree[above["parent"]]
            native = above["native"]
        key = above["code"] if above is not tree[0] else None
        entry = times.setdefault(key, {"own": [0] * len(doing), "native": 0})
        for place, count in enumerate(node["own"]):
            entry["own"][place] += count
        if native:
            entry["native"] += sum(node["own"])
    rows = []
    for row in recorded["functions"]:
        spent = times.pop(row["code"], None) if row["code"] is not None else None
        rows.append(_row(row, spent, doing, period, total))
    for code, spent in times.items():
        name, file, line = codes[code] if code is not None else ("outside of the program's functions", "", 0)
        empty = {"name": name, "file": file, "line": line, "code": code, "native": False, "compiled": False, "refused": None, "loops_refused": None,
                 "interpreted_calls": 0, "fallbacks": 0, "entries": 0, "iterations": 0, "mismatches": 0, "gain_seconds": 0.0, "versions": 0, "compile_seconds": 0.0,
                 "code_bytes": 0, "exits": [], "invalidated": {}, "units": []}
        rows.append(_row(empty, spent, doing, period, total))
    rows = [row for row in rows if row["periods"] or row["raw"]["compiled"] or row["raw"]["refused"]]
    rows.sort(key=lambda row: (-row["periods"], -row["raw"]["entries"], row["name"], row["file"], row["line"]))
    for number, row in enumerate(rows):
        row["id"] = f"f{number}"
    return rows


def _row(row, spent, doing, period, total):
    spent = spent or {"own": [0] * len(doing), "native": 0}
    periods = sum(spent["own"])
    exits = sum(exit["count"] for exit in row["exits"])
    calls = row["entries"] + row["interpreted_calls"]
    is_function = bool(row["file"])
    return {
        "raw": row,
        "is_function": is_function,
        "name": row["name"],
        "place": f"{_short(row['file'])}:{row['line']}" if is_function else "",
        "file": row["file"],
        "line": row["line"],
        "periods": periods,
        "seconds": f"{periods * period:.3f}",
        "percent": f"{100 * periods / total:.1f}" if total else "0.0",
        "native_percent": round(100 * spent["native"] / periods) if periods else 0,
        "native_sort": spent["native"] / periods if periods else -1.0,
        "native_known": bool(periods),
        "calls": calls,
        "calls_text": f"{calls:,}",
        "turns_text": f"{row['iterations']:,}",
        "iterations": row["iterations"],
        "versions": row["versions"],
        "exits": exits,
        "exits_text": f"{exits:,}",
        "compile_ms": f"{row['compile_seconds'] * 1e3:.1f}",
        "gain": row["gain_seconds"],
        "gain_text": f"{row['gain_seconds']:+.3f}" if row["entries"] or row["iterations"] else "",
        "status": _status(row, is_function),
        "parts": [_part(name, count, period, periods) for name, count in zip(doing, spent["own"]) if count],
    }


def _status(row, is_function):
    if not is_function:
        return ""
    if row["native"]:
        return "native" if row["entries"] or row["iterations"] else "never entered"
    if any(unit["kind"] == "loop" for unit in row["units"]):
        return "loop native"
    return "given up" if row["compiled"] else "refused" if row["refused"] else "interpreted"


def _others(rows, period, total):
    """One row for the functions that are not listed."""
    periods = sum(row["periods"] for row in rows)
    empty = dict(rows[0], raw=None, is_function=False, name=f"{len(rows):,} more functions", place="", file="", line=0, periods=periods,
                 seconds=f"{periods * period:.3f}", percent=f"{100 * periods / total:.1f}" if total else "0.0", native_known=False, native_percent=0,
                 native_sort=-1.0, calls=0, calls_text="", turns_text="", iterations=0, versions=0, exits=0, exits_text="", compile_ms="", gain=0.0,
                 gain_text="", status="", parts=[], has_details=False, id="others")
    return empty


def _part(name, count, period, total, labels=DOING):
    label, explained = labels[name]
    share = count / total if total else 0.0
    return {"name": name, "label": label, "explained": explained, "periods": count, "seconds": f"{count * period:.3f}",
            "percent": f"{100 * share:.1f}", "width": f"{100 * share:.4f}"}


def is_falling_back(row):
    """True if machine code of a function exits so often that it needs attention. Exceptions of the
    program do not count."""
    exits = sum(exit["count"] for exit in row["exits"] if exit["reason"] != "raised")
    return exits >= SOME_EXITS and 100 * exits >= FALLING_BACK * (row["entries"] + row["iterations"])


def _summary(recorded, stats, rows, hot, own, period, total):
    """The run as sentences."""
    seconds = recorded["seconds"]
    found = []
    native = sum(row["status"] in ("native", "loop native") for row in hot)
    falling = [row for row in rows if row["is_function"] and is_falling_back(row["raw"])]
    if recorded["not_sampled"]:
        found.append(f"Nothing was sampled: {recorded['not_sampled']}. Counts are exact, but there are no times.")
    elif not total:
        found.append("The run was too short to be sampled.")
    else:
        found.append(f"{native:,} of {len(hot):,} hot functions {'is' if native == 1 else 'are'} native; "
                     f"{len(falling):,} keep{'s' * (len(falling) == 1)} falling back to the interpreter.")
    here, beside = stats["compile_ms"] / 1e3, stats["compile_beside_ms"] / 1e3
    found.append(f"Compiling took {beside:.2f} s beside the program and {here:.2f} s of its own time, {_share(here, seconds)} of the run; "
                 f"the longest time for which it blocked the program was {stats['stalls']['longest_ms']:.1f} ms.")
    if total:
        loop = "'s loop" if recorded["loop_known"] else ""
        with_c = own["machine"] + own["c_native"] + own["helpers"]
        found.append(f"Of {total * period:.2f} s of processor time, {_share(own['machine'], total)} were machine code, "
                     f"{_share(with_c, total)} with its callees; {_share(own['interpreter'], total)} were the interpreter{loop}, "
                     f"{_share(own['interpreter'] + own['c_interpreted'], total)} with {'its callees' if loop else 'the libraries that it calls'}.")
        waited = seconds - total * period
        if waited > 0.05 * seconds:
            found.append(f"The run took {seconds:.2f} s: for {waited:.2f} s the program's thread waited, or the processor ran other processes.")
    gain = sum(row["raw"]["gain_seconds"] for row in rows)
    found.append(f"Machine code is estimated to have saved {gain:.2f} s." if gain >= 0
                 else f"Machine code is estimated to have lost {-gain:.2f} s: look at the exits.")
    collections = recorded["collections"]
    if collections["count"]:
        found.append(f"{collections['count']:,} collections of garbage took {collections['seconds']:.2f} s, {_share(collections['seconds'], seconds)} of the run.")
    if recorded["lost"]:
        found.append(f"{recorded['lost']:,} periods could not be recorded, for lack of room: times are too small by this amount.")
    return found


def _share(part, whole):
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f} %" if 0 < share < 10 else f"{share:.0f} %"


def _short(file):
    """A file's path, relative to the folder that it was imported from, if that is known."""
    best = max((folder for folder in sys.path if folder and file.startswith(folder.rstrip("/") + "/")), key=len, default=None)
    if best is not None:
        return file[len(best.rstrip("/")) + 1:]
    here = os.getcwd() + "/"
    return file[len(here):] if file.startswith(here) else file


def _events(recorded):
    codes = recorded["codes"]
    found = []
    for event in recorded["events"][:MOST_EVENTS]:
        name, file, line = codes[event["code"]] if event["code"] is not None else ("", "", 0)
        found.append({"at": f"{event['at']:.3f}", "kind": event["kind"], "name": name, "place": f"{_short(file)}:{line}" if file else "",
                      "took": f"{event['took'] * 1e3:.2f}" if event["took"] else "", "text": event["text"]})
    return found


def _details(recorded, rows, progress):
    """Source, advice and text forms of the functions with the most time, by row."""
    met = {}
    for row in recorded["met"]:
        met.setdefault(row["code"], []).append(row)
    wanted = [row for row in rows if row["is_function"]]
    # Functions with the most time come first; those that exit often, or were refused after they
    # were hot, are listed as well.
    busy = [row for row in wanted if row["periods"]][:MOST_DETAILS]
    falling = [row for row in wanted if row not in busy and is_falling_back(row["raw"])]
    lines = {}
    for code, line, native, count in recorded["lines"]:
        spent = lines.setdefault(code, {}).setdefault(line, [0, 0])
        spent[native] += count
    until = time.monotonic() + PATIENCE
    details = {}
    chosen = (busy + falling)[:MOST_DETAILS]
    for number, row in enumerate(chosen):
        if progress:
            progress.step(number, len(chosen), row["name"])
        raw = row["raw"]
        texts = _texts(raw, time.monotonic() < until)
        details[row["id"]] = detail(row, texts, met.get(raw["code"], []), lines.get(raw["code"], {}), recorded["period"])
    return details


def _texts(row, in_time):
    """The text forms of a function; empty ones with the reason if there are none."""
    function = row.get("function") or (_find(row) if row["compiled"] else None)
    if function is None:
        return {"why": "Text forms are of functions that are compiled and can be found by their name: this is none."}
    if not in_time:
        return {"why": f"Left out, to be done in {PATIENCE:.0f} s: `cladonia.explain` shows it."}
    from cladonia import _native, _plan

    native = _native.load()
    try:
        texts = dict(native.inspect(function), bytecode=native.dump(function, "bytecode"))
    except native.NotCompiled as error:
        return {"why": str(error)}
    if "error" in texts:
        return {"why": texts["error"], "bytecode": texts["bytecode"]}
    texts["plan"] = _plan.report(texts, row["name"]) if "unit" in texts else ""
    return texts


def _find(row):
    """The function of a record, looked up by its qualified name in the modules of its file."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) != row["file"]:
            continue
        found = module
        for part in row["name"].split("."):
            found = getattr(found, "__dict__", {}).get(part)
        found = getattr(found, "__func__", found)
        code = getattr(found, "__code__", None)
        if isinstance(found, type(_find)) and code.co_firstlineno == row["line"]:
            return found
    return None


def detail(row, texts, met, lines, period):
    """All data about one function."""
    raw = row["raw"]
    bytecode, selected = texts.get("bytecode", ""), texts.get("selected", "")
    instrs = _lines.instructions(bytecode)
    kinds = _lines.kinds(bytecode, selected) if selected else {}
    general = _lines.general(bytecode, selected) if selected else {}
    advice = _advice.of(raw, met, instrs)
    source = _source(raw, kinds, general, {line for line, _, _ in instrs.values() if line}, advice, lines, period)
    forms = [{"name": label, "text": _cut(texts[name])} for name, label in (
        ("plan", "plan of each attribute access and name"), ("hir", "HIR, as built"), ("selected", "HIR, as selected for machine code"),
        ("asm", "assembly"), ("bytecode", "typed bytecode, with the interpreter's feedback")) if texts.get(name)]
    units = [{"kind": unit["kind"], "line": unit["line"], "bytes": f"{unit['bytes']:,}", "entries": f"{unit['entries']:,}",
              "iterations": f"{unit['iterations']:,}", "exits": f"{unit['exits']:,}", "ms": f"{unit['compile_seconds'] * 1e3:.1f}"} for unit in raw["units"]]
    exits = [{"line": exit["line"], "reason": exit["reason"], "count": f"{exit['count']:,}"}
             for exit in sorted(raw["exits"], key=lambda exit: -exit["count"])]
    return {"id": row.get("id", ""), "name": row["name"], "place": row["place"], "status": row["status"], "seconds": row["seconds"], "percent": row["percent"],
            "advice": [{"text": text, "help": help or ""} for text, help in advice], "source": source, "forms": forms, "why": texts.get("why", ""),
            "units": units, "exits": exits}


def _cut(text):
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n... {len(text) - MOST_TEXT:,} characters more"


def _source(row, kinds, general, known, advice, lines, period):
    """The lines of a function: number, text, kind, time, exits, and notes."""
    text = linecache.getlines(row["file"])
    first = row["line"]
    if not text or not 0 < first <= len(text):
        return []
    exits = {}
    for exit in row["exits"]:
        exits.setdefault(exit["line"], []).append(exit)
    last = max([first, *known, *lines, *exits]) if known or lines or exits else first + _extent(text[first - 1:]) - 1
    found = []
    for number in range(first, min(last, len(text), first + MOST_SOURCE) + 1):
        interpreted, native = lines.get(number, (0, 0))
        left = exits.get(number, [])
        count = sum(exit["count"] for exit in left)
        kind = kinds.get(number, "")
        if not kinds and (interpreted or native):
            kind = "native" if native > interpreted else "interpreted"
        notes = [{"text": said, "help": help or ""} for said, help in advice if said.startswith(f"Line {number}:")]
        notes += [{"text": f"Exited {_times(exit['count'])}: {exit['reason']}.", "help": _advice.WHAT_HELPS.get(exit["reason"], "")}
                  for exit in left if not notes]
        if number in general:
            notes.append({"text": f"Dispatches on the object, as the interpreter does: {', '.join(f'`{op}`' for op in general[number])}.",
                          "help": "use values of one class that the compiler supports (numbers, strings, lists, instances of user-defined classes), "
                                  "for which it has code of its own" if not left else ""})
        found.append({"number": number, "text": text[number - 1].rstrip("\n").expandtabs(), "kind": kind, "exits": f"{count:,}" if count else "",
                      "seconds": f"{(interpreted + native) * period:.3f}" if interpreted + native else "", "notes": notes})
    return found


def _times(count):
    return "once" if count == 1 else f"{count:,} times"


def _extent(text):
    """The number of lines of the function that starts here."""
    import inspect

    try:
        return len(inspect.getblock(text))
    except (SyntaxError, IndentationError, ValueError):
        return 1
