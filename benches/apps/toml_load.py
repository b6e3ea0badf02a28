"""A lock file in TOML, loaded by tomllib."""

import tomllib

PACKAGE = """
[[package]]
name = "package-{n}"
version = "{n}.{d}.0"
description = 'A package of "things"'
python = ">=3.{d}"
optional = {flag}
weight = {n}.25e-1
size = 0x{n:04x}
dates = {{ made = 2024-01-1{d}T08:30:00Z, seen = 2024-02-0{e} }}
requires = [
    "first>=1.0",  # always
    "second[extra]==2.*; python_version < '3.{d}'",
    {{ name = "third", markers = ["a", "b\\tc", "\\u00e9"] }},
]
notes = \"\"\"
Several lines, \\
    of which two are one.
\"\"\"

[package.source]
url."https" = "https://files.example/{n}"
reference.commit = "{n:040x}"
"""
TEXT = "".join(PACKAGE.format(n=n, d=n % 9, e=n % 9 + 1, flag="true" if n % 2 else "false") for n in range(80))


def work():
    return str(tomllib.loads(TEXT))
