"""The flame graph and the timeline, as SVG that needs no script. Frames that are too narrow to see
are omitted."""

from __future__ import annotations

from html import escape
from math import log10

WIDTH = 1200
ROW = 18
#: Minimum width of a frame that is drawn, and of one whose callees are: deep stacks of hardly
#: visible frames would make the graph tall and empty.
NARROWEST = 0.6
NARROWEST_CALLER = 2.5
MOST_DEPTH = 80
#: Width of a letter, for labels that fit.
LETTER = 6.6

#: Lanes of the timeline below the chart of time.
LANES = (("compiled", "compiled"), ("installed", "installed"), ("exits", "exits"), ("invalidated", "invalidated"), ("refused", "refused"), ("collected", "collections"))


def flame(tree, codes, period):
    """The tree of frames, callers above their callees."""
    total = tree[0]["total"] if tree else 0
    if not total:
        return ""
    boxes, deepest = [], 0
    work = [(0, 0.0, 0)]
    while work:
        place, x, depth = work.pop()
        node = tree[place]
        width = WIDTH * node["total"] / total
        if width < NARROWEST or depth > MOST_DEPTH:
            continue
        deepest = max(deepest, depth)
        boxes.append(_box(node, codes, x, depth, width, total, period))
        if width < NARROWEST_CALLER:
            continue
        # Callees by time, so that the largest are on the left.
        for child in sorted(node["children"], key=lambda child: -tree[child]["total"]):
            work.append((child, x, depth + 1))
            x += WIDTH * tree[child]["total"] / total
    height = (deepest + 1) * ROW + 4
    return (f'<svg class="flame" id="flame" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
            f'aria-label="Flame graph: callers above what they call, as wide as their time">{"".join(boxes)}</svg>')


def _box(node, codes, x, depth, width, total, period):
    name, file, line = codes[node["code"]]
    kind = {True: "n", False: "i", None: "c"}[node["native"]] if depth else "r"
    seconds, own = node["total"] * period, sum(node["own"]) * period
    how = {"n": "machine code", "i": "interpreted", "c": "C library", "r": ""}[kind]
    place = f" ({file}:{line})" if file else ""
    title = f"{name}{place}: {seconds:.3f} s, {100 * node['total'] / total:.1f} %; itself {own:.3f} s{', ' if how else ''}{how}"
    y = depth * ROW + 2
    letters = int((width - 6) / LETTER)
    label = name if len(name) <= letters else name[:letters - 1] + "…" if letters > 3 else ""
    text = f'<text x="{x + 3:.1f}" y="{y + 12.5}">{escape(label)}</text>' if label else ""
    return (f'<g class="{kind}" data-x="{x:.2f}" data-w="{width:.2f}" data-n="{escape(name, True)}"><title>{escape(title)}</title>'
            f'<rect x="{x:.2f}" y="{y}" width="{max(width - 0.5, 0.4):.2f}" height="{ROW - 1}" rx="2"/>{text}</g>')


def timeline(recorded, period):
    """The activity of threads over time, and below it the compiler's events and the exits."""
    ticks, seconds = recorded["ticks"], recorded["seconds"]
    length = ticks["seconds"]
    if not seconds:
        return ""
    chart, lane, left = 120, 26, 150
    scale = (WIDTH - left - 10) / seconds
    height = chart + lane * len(LANES) + 44
    parts = [f'<svg class="timeline" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
             'aria-label="Timeline of processor time, compiles, exits and invalidations">']
    most = max([sum(tick) for tick in ticks["doing"]] + [length / period])
    parts.append(f'<text class="axis" x="4" y="24">processors in use</text><text class="axis" x="4" y="40">(top: {most * period / length:.1f})</text>')
    for number, tick in enumerate(ticks["doing"]):
        x, y = left + number * length * scale, 10.0 + chart
        width = max(min(length, seconds - number * length) * scale, 0.5)
        for name, count in zip(recorded["doing"], tick):
            if count:
                tall = chart * count / most
                y -= tall
                parts.append(f'<rect class="d-{name}" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{tall:.2f}"/>')
    top = chart + 16
    for number, (kind, label) in enumerate(LANES):
        y = top + number * lane
        count = sum(ticks["exits"]) if kind == "exits" else sum(event["kind"] == kind for event in recorded["events"])
        parts.append(f'<text class="axis" x="4" y="{y + 16}">{label}: {count:,}</text><line class="lane" x1="{left}" x2="{WIDTH - 10}" y1="{y + lane - 3}" y2="{y + lane - 3}"/>')
        if kind == "exits":
            parts += _exits(ticks, length, seconds, left, scale, y, lane)
            continue
        for event in recorded["events"]:
            if event["kind"] == kind:
                parts.append(_event(event, recorded["codes"], left, scale, y, lane))
    y = top + lane * len(LANES) + 12
    for share in range(5):
        at = seconds * share / 4
        anchor = ("start", "middle", "middle", "middle", "end")[share]
        parts.append(f'<text class="axis" text-anchor="{anchor}" x="{left + at * scale:.1f}" y="{y}">{at:.2f} s</text>')
    parts.append("</svg>")
    return "".join(parts)


def _exits(ticks, length, seconds, left, scale, y, lane):
    """Exits per tick, as bars whose height is the logarithm."""
    most = max(ticks["exits"], default=0)
    for number, count in enumerate(ticks["exits"]):
        if count:
            tall = (lane - 5) * (1 + log10(count)) / (1 + log10(most))
            x = left + number * length * scale
            width = max(min(length, max(seconds - number * length, 0)) * scale, 1)
            yield f'<rect class="e-exits" x="{x:.2f}" y="{y + lane - 3 - tall:.2f}" width="{width:.2f}" height="{tall:.2f}"><title>{count:,} exits</title></rect>'


def _event(event, codes, left, scale, y, lane):
    name, file, line = codes[event["code"]] if event["code"] is not None else ("", "", 0)
    took = f", {event['took'] * 1e3:.2f} ms" if event["took"] else ""
    title = f"{event['at']:.3f} s: {event['kind']} {name} {f'({file}:{line})' if file else ''} {event['text']}{took}"
    width = max(event["took"] * scale, 1.2)
    x = left + event["at"] * scale - width
    return (f'<rect class="e-{event["kind"]}" x="{max(x, left - 1):.2f}" y="{y + 3}" width="{width:.2f}" height="{lane - 7}">'
            f"<title>{escape(title)}</title></rect>")
