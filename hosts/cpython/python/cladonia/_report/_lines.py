"""The kind of code that each line of a function runs, from the compiler's text forms: raw, boxed,
or general operations."""

from __future__ import annotations

import re

#: The kinds of a line; if it has operations of several kinds, the last one counts.
KINDS = ("raw", "boxed", "general")

#: Operations on objects of any type, each a call of a helper that dispatches on the object
#: (`GeneralOp` of the compiler).
GENERAL = frozenset("""
    binary_op compare compare_bool operator_rest contains truth negative invert get_item set_item del_item get_slice set_slice
    get_extended_slice load_attr store_attr delete_attr load_method load_super_attr load_global load_name store_name delete_name
    store_global delete_global load_locals load_from_dict_or_globals load_from_dict_or_deref call call_ex get_iter iter_next
    list_extend set_update dict_update dict_merge unpack_sequence unpack_ex format_simple format_with_spec convert_value
    load_build_class import_name import_from match_mapping match_sequence match_keys match_class get_len before_with with_except_start
    get_yield_from_iter send get_awaitable get_aiter get_anext end_async_for before_async_with call_interpreted range_iter
    """.split())

#: Operations that do not determine a line's kind: bookkeeping, and values that an exit would
#: materialise.
SILENT = frozenset("""
    param arg const const_int const_double const_bool null store_slot load_slot incref decref held refine borrowed drop_shared check_valid
    check_unseen check_pending check_quiet quiet do_pending count check_thread output jump branch return box_int box_float box_bool box_int_if
    box_float_if virtual_tuple virtual_instance virtual_if virtual_cell virtual_method virtual_range_iter virtual_seq_iter resume_point sent yield
    handle_pending complete_traceback forget_traceback
    """.split())

_RAW = re.compile(r"(?:int|float)_[a-z_]+|bool_not|bool_to_int|select|raw_(?:get|set|len)|range_[a-z]+|unbox_[a-z]+|index|iter_more")
_CODE_LINE = re.compile(r" +file \".*\" (\d+)$")
_INSTR = re.compile(r"  @(\d+)\s+(\w+)(?: (.*))?$")
_HIR = re.compile(r"    (?:v\d+: (?P<type>.+?) = )?(?P<op>[a-z_]+)(?P<rest>.*)$")
_STATE = re.compile(r"\{@(\d+) ")
_AT = re.compile(r" at @(\d+)$")


def instructions(bytecode):
    """The instructions of a function's typed bytecode: position to (line, operation, argument)."""
    found, line = {}, None
    for text in bytecode.splitlines():
        if match := _CODE_LINE.match(text):
            line = int(match[1])
        if not (match := _INSTR.match(text)):
            continue
        rest = match[3] or ""
        argument, _, _ = rest.partition(" ; ")
        if at := re.search(r"(?:^|\s)line (\d+)", argument):
            line = int(at[1])
        argument = re.split(r"\s{2,}| hint | at \d| line \d", argument, maxsplit=1)[0]
        found[int(match[1])] = line, match[2], argument.strip()
    return found


def positions(selected):
    """Each operation of the selected HIR: (position in the bytecode, operation)."""
    here = 0
    for text in selected.splitlines():
        if not (match := _HIR.match(text)) or text.startswith("     "):
            continue
        rest = match["rest"]
        if at := _AT.search(rest):
            here = int(at[1])
        elif state := _STATE.search(rest):
            here = int(state[1])
        yield here, match["op"]


def kinds(bytecode, selected):
    """The kind of each line: line to one of `KINDS`. Lines without remaining operations are not in
    it."""
    lines = {at: line for at, (line, _, _) in instructions(bytecode).items()}
    found = {}
    for at, op in positions(selected):
        line = lines.get(at)
        if line is None or op in SILENT:
            continue
        kind = "general" if op in GENERAL else "raw" if _RAW.fullmatch(op) else "boxed"
        before = found.get(line)
        if before is None or KINDS.index(kind) > KINDS.index(before):
            found[line] = kind
    return found


def general(bytecode, selected):
    """The general operations of each line that has some: line to their names, in order."""
    lines = {at: line for at, (line, _, _) in instructions(bytecode).items()}
    found = {}
    for at, op in positions(selected):
        if op in GENERAL and lines.get(at) is not None and op not in found.setdefault(lines[at], []):
            found[lines[at]].append(op)
    return {line: ops for line, ops in found.items() if ops}


def operands(instrs, at):
    """The source names of an instruction's operands, the deeper one first, as far as they are
    plain names."""
    names = []
    for back in (at - 1, at - 2):
        _, op, argument = instrs.get(back, (None, "", ""))
        if op in ("load_fast", "load_fast_borrow", "load_deref"):
            names.insert(0, argument)
        elif op == "load_attr" and back - 1 in instrs and instrs[back - 1][1] in ("load_fast", "load_fast_borrow"):
            names.insert(0, f"{instrs[back - 1][2]}.{argument.partition(',')[0]}")
            break
        else:
            break
    return names
