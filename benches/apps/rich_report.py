"""A report for a terminal by rich: tables, panels, trees, Markdown, wrapped text in colours."""

import io

from rich.columns import Columns
from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.table import Table
from rich.tree import Tree

TEXT = "The *quick* brown fox, see `fox.py`, jumps over **the lazy dog** and over [a link](http://x.example).\n\n1. one\n2. two\n"


def table():
    made = Table(title="Jobs", show_lines=True)
    for name, style, side in (("Job", "cyan", "left"), ("State", "", "center"), ("Seconds", "bold magenta", "right")):
        made.add_column(name, style=style, justify=side)
    for n in range(16):
        made.add_row(f"job [b]{n}[/b]: build and test", "[green]done[/]" if n % 3 else "[red on white]failed[/]", f"{n * 1.37:.2f}")
    return made


def tree():
    made = Tree("root")
    for n in range(5):
        branch = made.add(f"[yellow]folder {n}[/]")
        for k in range(n):
            branch.add(f"file_{k}.txt :page_facing_up: {k * 100} bytes")
    return made


def work():
    out = io.StringIO()
    console = Console(file=out, width=78, force_terminal=True, color_system="256", legacy_windows=False, emoji=True)
    console.print(table())
    console.print(Panel(tree(), title="Files", subtitle="of the last run"))
    console.print(Columns([Panel(f"cell {n}") for n in range(8)], equal=True))
    console.print(Markdown(TEXT, hyperlinks=False))
    console.print({"numbers": list(range(20)), "text": ("a", None, True)})
    return out.getvalue()
