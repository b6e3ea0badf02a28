"""Writes the results of run.py as a table for docs/cpython-suite.md.

    python jit-tests/cpython/table.py [--results FOLDER] [--commit NAME] > docs/cpython-suite.md

For each file of CPython's suite it lists the results without and with the JIT, and the share of
compiled code. Results may come from several builds (`run.py --keep`); the table gives their
number. The reasons for differences are in reasons.toml.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections import Counter
from pathlib import Path

import run  # the one beside this file, which also makes harness known
import harness

HERE = Path(__file__).resolve().parent
#: The outcomes of a case, in display order.
ENDS = ("ok", "skip", "xfail", "xpass", "fail", "error")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--python", help="the interpreter whose suite it is")
    parser.add_argument("--commit", default="", help="what the results were made with, for the text")
    options = parser.parse_args()
    with open(HERE / "reasons.toml", "rb") as file:
        reasons = tomllib.load(file)
    files = run.all_files(harness.find_python(options.python))
    rows = [row for name in files if (row := read(options.results, name, reasons))]
    print("\n".join(text(rows, len(files), options.commit)))


def read(folder, name, reasons):
    """One row of the table, or None for a file that was not run both with and without the JIT."""
    base = harness.read_stats(folder / f"{name}.base.json")
    ours = harness.read_stats(folder / f"{name}.threshold-0.json")
    if not base or not ours:
        return None
    differing = run.differences(base, ours)
    coverage = ours.get("stats", {}).get("coverage", {})
    return {
        "name": name, "base": base, "ours": ours, "differing": differing, "reason": reasons.get(name, ""),
        "eligible": coverage.get("functions_eligible", 0), "compiled": coverage.get("functions_compiled", 0),
        "refusals": reasons_of(ours), "measured": bool(coverage),
    }


def reasons_of(result):
    """Refusals by reason, without lines and amounts."""
    out = Counter()
    for reason, count in harness.refusals(result.get("stats", {})).items():
        out[re.sub(r" \(line \d+\)$|: \d+ bytes wanted.*", "", reason)] += count
    return out


def passes(result):
    """True if every case of the file had an expected outcome."""
    return not result["timeout"] and all(ended in ("ok", "skip", "xfail") for ended, _ in result["cases"].values())


def cell(result):
    if result["timeout"]:
        return f"no end in {result['seconds']:.0f} s"
    found = Counter(ended for ended, _ in result["cases"].values())
    odd = [ended for ended in found if ended not in ENDS]
    return ", ".join(f"{found[ended]} {ended}" for ended in (*ENDS, *odd) if found[ended]) or "nothing"


def text(rows, files, commit):
    good = [row for row in rows if passes(row["base"])]
    bad = [row for row in good if row["differing"]]
    eligible, compiled = sum(row["eligible"] for row in rows), sum(row["compiled"] for row in rows)
    refusals = sum((row["refusals"] for row in rows), Counter())
    builds = len({row["ours"]["of"] for row in rows})
    yield "# CPython's suite, with everything compiled"
    yield ""
    yield ("`jit-tests/cpython/run.py --all` runs each file without the JIT and with it at threshold 0 (every function is compiled before its first\n"
           "execution) and compares how each case ends; `jit-tests/cpython/table.py` writes this page from the results.")
    yield ""
    yield f"Made{f' at commit {commit}' if commit else ''} with CPython {rows[0]['base']['of'].split()[0]}, {builds} build{'s' if builds > 1 else ''} of the JIT."
    yield ""
    yield f"- {len(rows)} of {files} files were run both ways."
    yield f"- {len(good)} of them pass without the JIT; {len(good) - len(bad)} of these pass with it just the same."
    yield f"- {compiled} of {eligible} functions that were to be compiled were{f' ({compiled / eligible:.2%})' if eligible else ''}, summed over the processes."
    yield ""
    yield "| refused or given up | count |\n| --- | ---: |"
    for reason, count in refusals.most_common():
        yield f"| {reason} | {count} |"
    yield ""
    yield "## Files that differ\n\n| file | cases | why |\n| --- | --- | --- |"
    for row in rows:
        if row["differing"]:
            yield f"| {row['name']} | {differing(row)} | {row['reason'] or 'not looked into'} |"
    yield ""
    yield "## Files\n\n| file | without | with | compiled | refused |\n| --- | --- | --- | ---: | ---: |"
    for row in rows:
        same = cell(row["ours"]) if row["differing"] else "same"
        counted = f"{row['compiled']} of {row['eligible']}" if row["measured"] else "-"
        yield f"| {row['name']} | {cell(row['base'])} | {same} | {counted} | {sum(row['refusals'].values())} |"


def differing(row):
    """The cases with another outcome, in short; if the process ended, only the case in which it
    did."""
    there = [(case, was, now) for case, was, now, _ in row["differing"] if now != "not run"] or [(c, w, n) for c, w, n, _ in row["differing"]]
    shown = [f"`{case.rpartition('.')[2].partition(' ')[0]}`: {was}, {now}" for case, was, now in there[:6]]
    return "; ".join(shown) + (f"; {len(there) - 6} more" if len(there) > 6 else "")


if __name__ == "__main__":
    main()
