"""A report on how the attribute accesses of a function are compiled. It is made from the
function's unit, which has the bytecode with its profile, and the answers of the `World`."""

from __future__ import annotations

import re

ACCESSES = {"load_attr": "load", "store_attr": "store", "delete_attr": "delete", "load_super_attr": "super", "load_global": "global"}
MOST_CLASSES = 4
_INSTR = re.compile(r"    @(?P<pc>\d+)\s+(?P<op>\w+)(?: (?P<arg>.*))?$")
_ANSWER = re.compile(r'  (?P<kind>load_attr|store_attr) (?P<type>.+?) "(?P<name>(?:[^"\\]|\\.)*)" = (?P<plan>.*)$')
_SUPER = re.compile(r'  load_super \S+ (?P<type>.+?) "(?P<name>(?:[^"\\]|\\.)*)" = (?P<plan>.*)$')
_MET = re.compile(r"  met @(?P<pc>\d+) \[(?P<types>.*)\] \[.*\]$")
_GLOBAL = re.compile(r'  global \d+ "(?P<name>(?:[^"\\]|\\.)*)" = (?P<value>.+?)(?P<assumed>(?: assume .*)?)$')


def report(texts, name):
    """The text of `cladonia.plan`, from the texts of a function's stages."""
    unit = texts["unit"].splitlines()
    helpers = re.findall(r'^  intrinsic "(\w+)"', texts["host"], re.MULTILINE)
    plans, names = _answers(unit, helpers)
    accesses = list(_accesses(unit))
    lines, kinds = [name], {}
    for accessor, used in _usage(accesses).items():
        lines.append(f"  accessor {accessor}: usage ({', '.join(used)})")
    for access in accesses:
        kind, found = _one(access, plans, names)
        kinds[kind] = kinds.get(kind, 0) + 1
        lines += found
    counted = ", ".join(f"{kind} {kinds[kind]}" for kind in sorted(kinds)) or "none"
    count = sum(kinds.values())
    return "\n".join([*lines, f"  {count} access{'es' * (count != 1)}: {counted}"]) + "\n"


def _answers(unit, helpers):
    """The answers of the `World`: plans by operation, type and name, and the values of watched
    names."""
    def called(match):
        number = int(match[1])
        return helpers[number] if number < len(helpers) else match[0]

    plans, names = {}, {}
    for line in unit:
        if found := _ANSWER.match(line) or _SUPER.match(line):
            plan = re.sub(r"intrinsic(\d+)", called, found["plan"])
            what, *assumed = plan.split(" assume ")
            kind = found.groupdict().get("kind", "load_super_attr")
            plans[kind, found["type"], found["name"]] = what, assumed
        elif found := _GLOBAL.match(line):
            names[found["name"]] = found["value"], found["assumed"].split(" assume ")[1:]
    return plans, names


def _accesses(unit):
    """Yield each access: position, line, operation, name, observed types, name of the receiver,
    True if it is called.

    Accesses of inlined functions come first; their receivers have the function's name as a
    prefix."""
    codes = [text.split('"')[1] for text in unit if text.startswith("  code ")]
    met = {found["pc"]: _split(found["types"]) for found in map(_MET.match, unit) if found}
    line, before, inside, number = 0, None, False, 0
    for text in unit:
        if text.startswith("  code "):
            inside, before = True, None
            number += 1
        if inside and (first := re.match(r'    file ".*" (\d+)$', text)):
            line = int(first[1])
        found = _INSTR.match(text) if inside else None
        if not found:
            continue
        arg, hint = found["arg"] or "", ""
        at = re.search(r" line (\d+)", arg)
        line = int(at[1]) if at else line
        if known := re.search(r" hint \[(.*)\]", arg):
            hint = known[1]
        if found["op"] in ACCESSES:
            what = re.split(r"\s{2,}| hint | at | line ", arg, maxsplit=1)[0]
            name, _, flag = what.partition(", ")
            receiver = before if before and found["op"] != "load_super_attr" else None
            types = _types(hint)
            if number == len(codes):
                types += [ty for ty in met.get(found["pc"], []) if ty not in types]
            elif receiver:
                receiver = f"{codes[number - 1]}: {receiver}"
            yield int(found["pc"]), line, found["op"], name, types, receiver, flag.strip() == "1"
        op = found["op"]
        before = re.split(r"\s{2,}| at | line ", arg, maxsplit=1)[0] if op in ("load_fast", "load_fast_borrow", "load_deref") else None


def _split(types):
    """Split a list of types."""
    depth, parts = 0, [""]
    for char in types:
        depth += (char in "[{") - (char in "]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _types(hint):
    """The receiver's types: the last operand's alternatives, each of which has a plan of its
    own."""
    last = ([""] + _split(hint))[-1]
    return [t.strip() for t in last.strip("{}").split("|")] if last.startswith("{") else [last] * bool(last)


def _usage(accesses):
    used = {}
    for _, _, op, name, _, receiver, method in accesses:
        if receiver and op != "load_global":
            mark = "=" if op in ("store_attr", "delete_attr") else "()" * method
            known = used.setdefault(receiver, [])
            if name + mark not in known:
                known.append(name + mark)
    return used


def _one(access, plans, names):
    """The kind of one access's plan, and its lines."""
    pc, line, op, name, types, receiver, method = access
    if op == "load_global":
        value, watched = names.get(name, (None, []))
        kind = "watched name" if value else "looked up"
        return kind, [f"  name {name} line {line}: {value or 'looked up each time'}", *_watched(watched)]
    called = "()" if method else {"store_attr": " = ", "delete_attr": " deleted"}.get(op, "")
    owner = "super()" if op == "load_super_attr" else receiver or "<expr>"
    lines, known, watched = [f"  access {owner}.{name}{called} @{pc} line {line}"], 0, []
    asked = op if op in ("store_attr", "load_super_attr") else "load_attr"
    # A constant of the program was not observed: it is known.
    own = [t for kind, t, attr in plans if kind == asked and attr == name]
    for ty in types or own:
        what, assumed = plans.get((asked, ty, name), (None, []))
        lines.append(f"    candidate   {ty}: {what or 'the general operation'}")
        known += what is not None
        watched += [a for a in assumed if a not in watched]
    if known == 0 and not types:
        kind = "generic (nothing observed yet)"
    elif known == 0:
        kind = "generic"
    elif known > 1:
        kind = f"guarded {min(known, MOST_CLASSES)} ways"
    else:
        kind = "guarded" if types else "watched"
    lines.append(f"    plan        {kind}")
    return kind.partition(" (")[0], lines + _watched(watched)


def _watched(assumed):
    return [f"    watched     {', '.join(assumed)}"] if assumed else []
