"""Performance problems of a function, and advice: sentences made from the counts."""

from __future__ import annotations

from cladonia._report import _lines

#: Minimum exits at one place for a sentence.
SOME_EXITS = 10

WHAT_HELPS = {
    "type": "give this place values of one class, or one function for each class",
    "shape": "set the same attributes in the same order in `__init__`, and no others later",
    "length": "unpack or index sequences of one length here",
    "identity": "call the same function here each time, or bind it to a name of the module once",
    "int_too_large": "keep these ints below 2**63, or use floats",
    "overflow": "keep these ints below 2**63, or use floats",
    "bounds": "test the index first rather than rely on IndexError",
    "domain": "test for zero (or the value that fails) before the operation",
    "alias": "store into another list than the one that is read",
    "unbound": "give the variable a value on each path",
    "name": "bind the global once, before the hot code runs",
    "unreached": "nothing: the code was never executed when it was compiled, and is compiled in the next version",
    "invalidated": "change globals, classes and functions before the hot code runs, not while it does",
    "observed": "do not call `locals()`, `vars()` or `sys._getframe` in hot code, nor trace it",
    "ended": "keep a reference to the object until after the loop",
    "raised": "if exceptions are frequent, test first: each one exits from machine code",
    "not_compiled": "move the instruction that has no native form out of the hot loop",
}

REFUSED = (
    ("its speculation failed", "the classes of its values change from call to call: split it by class, or convert its arguments first"),
    ("its exits cost more", "it exits from machine code too often: see its exits"),
    ("others set its locals", "do not set `frame.f_locals`, or trace it, while it is hot"),
    ("its locals are a namespace", "move the code of the module's or class's body into a function"),
    ("locals exceed", "split the function"),
    ("left out by", "this module is excluded by an option"),
    ("too many namespaces", "it is made by `exec` again and again: make it once"),
    ("calls already go somewhere else", "another tool has replaced how it is called"),
)


def of(row, met, instrs):
    """Sentences on a function: the problem, and advice. `met` has the operands of its exits,
    `instrs` its bytecode."""
    found = []
    if row["refused"]:
        found.append((f"It runs in the interpreter: {row['refused']}.", _of_refusal(row["refused"])))
    elif not row["compiled"]:
        calls = row["interpreted_calls"]
        found.append((f"It was not compiled: after {calls:,} counted calls, compiling was not yet likely to pay.", None))
    elif not row["native"] and row["units"]:
        found.append(("Only a loop of it is machine code; its calls begin in the interpreter.", None))
    if row["native"] and not (row["entries"] or row["iterations"]):
        found.append(("Its machine code was never entered: all its calls, or resumptions, come from the interpreter.",
                      "compile its callers too: a generator that an interpreted `for` resumes continues interpreted"))
    if row["loops_refused"] and row["loops_refused"] != row["refused"]:
        found.append((f"Its loops are not taken over while they run: {row['loops_refused']}.", _of_refusal(row["loops_refused"])))
    if row["mismatches"] >= SOME_EXITS:
        found.append((f"{row['mismatches']:,} calls had arguments of classes that its machine code does not accept, and ran in the interpreter.",
                      WHAT_HELPS["type"]))
    described = set()
    for place, classes in _by_place(met):
        line, reason, at = place
        total = sum(classes.values())
        if total < SOME_EXITS:
            continue
        described.add((line, reason))
        names = _lines.operands(instrs, at)
        found.append((_met(line, names, classes, total, reason), WHAT_HELPS.get(reason)))
    for exit in sorted(row["exits"], key=lambda exit: -exit["count"]):
        place = exit["line"], exit["reason"]
        if exit["count"] >= SOME_EXITS and place not in described:
            text = f"Line {exit['line']}: machine code exited {exit['count']:,} times ({exit['reason']})."
            found.append((text, WHAT_HELPS.get(exit["reason"])))
    for why, count in row["invalidated"].items():
        if why == "the JIT was turned off":
            continue
        found.append((f"{count:,} of its versions {'was' if count == 1 else 'were'} invalidated: {why}.", None))
    if row["gain_seconds"] < 0:
        lost = -row["gain_seconds"]
        found.append((f"It is slower as machine code, by an estimate of {lost:.3f} s: its exits cost more than it saves.", None))
    return found


def _of_refusal(reason):
    return next((help for part, help in REFUSED if part in reason), None)


def _by_place(met):
    """Observed classes, by (line, reason, position): the most frequent places first."""
    places = {}
    for row in met:
        classes = places.setdefault((row["line"], row["reason"], row["pc"]), {})
        key = tuple(row["classes"])
        classes[key] = classes.get(key, 0) + row["count"]
    return sorted(places.items(), key=lambda place: -sum(place[1].values()))


#: The problem with operands of these classes.
WHY_MET = {
    "type": "which this version was not compiled for",
    "shape": "with another layout of attributes than this version was compiled for",
    "domain": "with values that only the interpreter handles",
    "int_too_large": "and an int of them has more than 64 bits",
}


def _met(line, names, classes, total, reason):
    """`x` was a float 5,000 times, ..."""
    ordered = sorted(classes.items(), key=lambda item: -item[1])
    shown = ordered[:4]
    width = max(len(key) for key, _ in ordered)
    # An operand that always had one class did not fail the guard, if another operand varies.
    varies = [place for place in range(width) if len({key[place] for key, _ in ordered if len(key) > place}) > 1]
    if width == 1 or len(varies) == 1:
        place = varies[0] if varies else 0
        name = f"`{names[place - width]}`" if len(names) >= width - place else "the value"
        said = ", ".join(f"{_a(key[place])} {count:,} times" for key, count in shown if len(key) > place)
        text = f"Line {line}: {name} was {said}, {WHY_MET[reason]}"
    else:
        named = " and ".join(f"`{name}`" for name in names) if len(names) == width else "the operands"
        said = ", ".join(f"{' and '.join(key)} {count:,} times" for key, count in shown)
        text = f"Line {line}: {named} were {said}, {WHY_MET[reason]}"
    more = len(ordered) - len(shown)
    return f"{text}{f', and {more} other combinations' if more else ''} ({total:,} exits)."


def _a(name):
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}" if name != "NoneType" else "None"
