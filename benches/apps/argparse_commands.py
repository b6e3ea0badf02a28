"""A command line with commands of its own, read by argparse, with its help and its errors."""

import argparse
import contextlib
import io


def parser():
    top = argparse.ArgumentParser(prog="store", description="Keeps things, and finds them again.", epilog="See the manual for more.")
    top.add_argument("-v", "--verbose", action="count", default=0, help="say more; twice says all")
    top.add_argument("--root", metavar="DIR", default="/srv/store", help="where things are (default: %(default)s)")
    commands = top.add_subparsers(dest="command", required=True, title="commands")
    add = commands.add_parser("add", help="add things", aliases=["put"])
    add.add_argument("files", nargs="+")
    add.add_argument("--tag", action="append", default=[], metavar="NAME=VALUE")
    add.add_argument("--mode", choices=("copy", "link", "move"), default="copy")
    find = commands.add_parser("find", help="find things")
    find.add_argument("words", nargs="*")
    group = find.add_mutually_exclusive_group()
    group.add_argument("--newer", type=int, metavar="DAYS")
    group.add_argument("--older", type=int, metavar="DAYS")
    find.add_argument("--sort", choices=("name", "size", "date"), default="name")
    find.add_argument("--limit", type=int, default=20)
    check = commands.add_parser("check", help="check what is kept")
    for name in ("sizes", "digests", "names", "owners", "links"):
        check.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=True, help=f"whether {name} are checked")
    return top


LINES = [
    "add a.txt b.txt --tag kind=text --tag year=2024 --mode link", "-vv find apple pear --newer 30 --sort=date", "--root /tmp put x",
    "check --no-links --sizes -h", "find --newer 3 --older 5", "add --mode steal y", "find --limit many", "-v check --no-owners", "lose it",
]


def work():
    top, seen = parser(), []
    for line in LINES * 12:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                seen.append(sorted(vars(top.parse_args(line.split())).items()))
            except SystemExit as left:
                seen.append((left.code, out.getvalue()))
    return seen
