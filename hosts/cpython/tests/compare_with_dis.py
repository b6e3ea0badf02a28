"""Compares the text form of decoded code objects with the output of the `dis` module.

The host's Rust tests run it on a sample of the standard library. By itself, with Cladonia
installed, it covers all of it:
`python compare_with_dis.py [one_in]`.
"""

import dis
import glob
import os
import re
import sys
import types
import warnings

IS_314 = sys.version_info >= (3, 14)
APART = {
    "LOAD_FAST_LOAD_FAST": ("load_fast", "load_fast"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("load_fast_borrow", "load_fast_borrow"),
    "STORE_FAST_LOAD_FAST": ("store_fast", "load_fast"),
    "STORE_FAST_STORE_FAST": ("store_fast", "store_fast"),
}
RENAMED = {"JUMP_FORWARD": "jump", "END_FOR": "pop_top", "POP_ITER": "pop_top", "NOT_TAKEN": "nop"}
# Instructions that load objects that are not among the constants of the code.
IMPLICIT = ("LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT")
TAKE_ITEM, TEMPLATE = 26, 6


def expected(code):
    """Instructions (op, argument, second argument, position, resume, resumable, line) and handlers,
    from `dis`."""
    rows, at_unit, prefix = [], {}, None
    for i in dis.get_instructions(code):
        unit = i.offset // 2
        at_unit[unit] = len(rows)
        if i.opname == "EXTENDED_ARG":
            prefix = unit if prefix is None else prefix
            continue
        resume, prefix = (unit if prefix is None else prefix), None
        where = (unit, resume)
        line, arg, arg2 = i.line_number or 0, i.arg or 0, 0
        if i.opname in APART:
            first, second = APART[i.opname]
            rows.append([first, arg >> 4, 0, *where, True, line])
            rows.append([second, arg & 15, 0, *where, False, line])
            continue
        if i.opname in IMPLICIT:
            # The text of the object: "3", "AssertionError", "<built-in function all>".
            rows.append(["load_const", i.argrepr or str(arg), 0, *where, True, line])
            continue
        if i.opname == "BINARY_OP" and arg == TAKE_ITEM:
            rows.append(["binary_subscr", 0, 0, *where, True, line])
            continue
        if i.opname == "BUILD_TEMPLATE":
            rows.append(["call_intrinsic_2", TEMPLATE, 0, *where, True, line])
            continue
        if i.opname == "CALL_FUNCTION_EX" and IS_314:
            # The null that says that there are no named arguments is read with the call.
            arg = 1
            if rows[-1][0] == "push_null":
                arg, resume = 0, rows.pop()[4]
            where = (unit, resume)
        elif i.opname == "BUILD_INTERPOLATION":
            arg = arg >> 2 << 1 | arg & 1
        elif i.opname == "END_ASYNC_FOR":
            # The distance to the loop's SEND is there for tools.
            arg = 0
        elif i.opname in ("LOAD_GLOBAL", "LOAD_ATTR"):
            arg, arg2 = arg >> 1, arg & 1
        elif i.opname == "LOAD_SUPER_ATTR":
            arg, arg2 = arg >> 2, arg & 3
        elif i.opname == "COMPARE_OP":
            arg, arg2 = arg >> 5, arg >> 4 & 1
        elif i.jump_target is not None:
            # The interpreter continues after END_FOR and POP_TOP at the end of a loop.
            arg = ("unit", i.jump_target // 2 + (2 if i.opname == "FOR_ITER" else 0))
        rows.append([RENAMED.get(i.opname, i.opname.lower()), arg, arg2, *where, True, line])
    for row in rows:
        if isinstance(row[1], tuple):
            row[1] = at_unit[row[1][1]]
    at_unit[len(code.co_code) // 2] = len(rows)
    handlers = [
        [at_unit[e.start // 2], at_unit[e.end // 2], at_unit[e.target // 2], e.depth, e.lasti]
        for e in dis._parse_exception_table(code)
        # From 3.14 on, handlers that get a position are left to the interpreter.
        if not (e.lasti and IS_314)
    ]
    return rows, handlers


INSTR = re.compile(r"  @(\d+) +(\w+)(?: (?! )([^ ,]+)(?:, (\d+))?)?(.*)")
HINT = re.compile(r" *hint \[.*\](?=$| at | part| line | ;)")
CONST = re.compile(r".*?(?:LongExact\[(\d+)\]|TypeExact\[(\w+):obj\]|BuiltinMethodExact\[(\w+)\]).*")
HANDLER = re.compile(r"  handler @(\d+)\.\.@(\d+) -> @(\d+) depth (\d+)( lasti)?")
OPERATORS = "+ & // << @ * % | ** >> - / ^".split()
COMPARISONS = "< <= == != > >=".split()
# The text form's names of the variants of an op, by the interpreter's numbers.
VARIANTS = {
    "call_intrinsic_1": (
        "- show_value import_star stop_iteration_error wrap_async_yield positive list_to_tuple type_var param_spec"
        " type_var_tuple subscript_generic type_alias"
    ).split(),
    "call_intrinsic_2": (
        "- rest_of_group type_var_with_bound type_var_with_constraints set_type_params set_type_param_default template"
    ).split(),
    "convert_value": "- str repr ascii".split(),
    "set_function_attribute": "- defaults keyword_defaults - annotations - - - closure - - - - - - - annotate".split(),
    "load_special": "enter exit async_enter async_exit".split(),
}


def parsed(text, constants):
    """The text form, parsed into the same structure. `constants` are those of the code; the further
    ones are loaded implicitly."""
    rows, handlers, locals_, names, consts, line = [], [], [], [], [], 0
    for text_line in text.split("\n"):
        word, _, rest = text_line.strip().partition(" ")
        if text_line.startswith("  @"):
            index, op, arg, arg2, tail = INSTR.fullmatch(text_line).groups()
            assert int(index) == len(rows)
            tail = HINT.sub("", tail.partition(" ; ")[0])
            at, start = re.search(r" at (\d+)", tail), re.search(r" from (\d+)", tail)
            pos = int(at[1]) if at else len(rows)
            new_line = re.search(r" line (\d+)", tail)
            line = int(new_line[1]) if new_line else line
            arg = number(op, arg, locals_, names)
            if op == "load_const" and arg >= constants:
                arg = consts[arg]
            rows.append([op, arg, int(arg2 or 0), pos, int(start[1]) if start else pos, " part" not in tail, line])
        elif match := HANDLER.fullmatch(text_line):
            handlers.append([*map(int, match.groups()[:4]), match[5] is not None])
        elif text_line.startswith("  file "):
            line = int(rest.rpartition(" ")[2])
        elif text_line.startswith("  local "):
            locals_.append(rest.split(":")[0].split(" ")[0])
        elif text_line.startswith("  name "):
            names.append(rest)
        elif text_line.startswith("  const "):
            consts.append(implicit(rest))
    return rows, handlers


def implicit(const):
    """The text that `dis` has for an object that an instruction loads implicitly, from the text
    form of the constant."""
    if not (match := CONST.fullmatch(const)):
        return const
    int_, class_, function = match.groups()
    return int_ or class_ or f"<built-in function {function}>"


def number(op, arg, locals_, names):
    if arg is None:
        return 0
    if arg[0] in "#@" and arg[1:].isdigit():
        return int(arg[1:])
    if arg.isdigit():
        return int(arg)
    if op == "binary_op":
        return OPERATORS.index(arg) if arg in OPERATORS else OPERATORS.index(arg[:-1]) + 13
    if op in VARIANTS:
        return VARIANTS[op].index(arg)
    if op == "compare_op":
        return COMPARISONS.index(arg)
    return (locals_ if "fast" in op or "deref" in op or op == "make_cell" else names).index(arg)


def compare(code, text):
    assert not text.startswith("error"), f"{code}: {text}"
    for theirs, ours in zip(expected(code), parsed(text, len(code.co_consts)), strict=True):
        for a, b in zip(theirs, ours):
            assert a == b, f"{code}: dis has {a}, decoded {b}"
        assert len(theirs) == len(ours), f"{code}: dis has {len(theirs)}, decoded {len(ours)}"


def nested(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from nested(const)


def standard_library(one_in=1):
    """Every code object of every `one_in`-th file."""
    root = os.path.dirname(os.__file__)
    for path in sorted(glob.glob(root + "/**/*.py", recursive=True))[::one_in]:
        # A distribution may have a link to a file that it does not install.
        if "site-packages" in path or not os.path.isfile(path):
            continue
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                top = compile(file.read(), path, "exec")
            except (SyntaxError, ValueError):
                continue
        yield from nested(top)


def main():
    import cladonia

    count = 0
    for code in standard_library(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        cells = tuple(types.CellType() for _ in code.co_freevars)
        compare(code, cladonia.dump(types.FunctionType(code, {}, closure=cells), "bytecode"))
        count += 1
    print(count, "code objects decode as dis shows them")


if __name__ == "__main__":
    main()
