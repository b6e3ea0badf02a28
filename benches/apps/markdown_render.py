"""A manual in Markdown, with tables, footnotes, definition lists and fenced code, becomes HTML."""

import markdown

SECTION = """\
# Chapter {n}: the *{word}* pump

The {word} pump[^{n}] is served **every {n} weeks**, see [the plan](plan-{n}.html "Plan {n}") or <http://pumps.example/{n}>.
Lines break here  
and `code({n})` stands between; ![a drawing](pump{n}.png) shows the valve.

[^{n}]: Built in {year} by *Smith & Sons*.

| part | number | price |
|:-----|:------:|------:|
| seal | A-{n} | {n}.50 |
| `ring` | B-{n} | 1{n}.25 |

Valve
:   Lets the *{word}* in, and nothing out.

Drain
:   The opposite.

~~~~{{.python}}
def serve_{n}(pump):
    return pump.open() and not pump.{word}
~~~~

1. Close the valve
2. Drain the pump
    - slowly
    - **with care**
3. > Never open it
   > while it turns.

----
"""
WORDS = ("oil", "water", "slurry", "acid", "fuel", "brine")
TEXT = "\n".join(SECTION.format(n=n, word=WORDS[n % len(WORDS)], year=1950 + 3 * n) for n in range(1, 13))


def work():
    return markdown.markdown(TEXT, extensions=["tables", "footnotes", "def_list", "fenced_code", "toc"])
