"""Source in Python, JavaScript, C and HTML, coloured by Pygments as HTML and for a terminal."""

from pygments import highlight
from pygments.formatters import HtmlFormatter, Terminal256Formatter
from pygments.lexers import CLexer, HtmlLexer, JavascriptLexer, PythonLexer

PYTHON = '''
@cached(limit=0x1F)
class Pump(Machine):
    """Doc of {n}, with 'quotes'."""
    async def run(self, *, rate: float = 1.5e-3, label=f"pump {{n!r:>10}}\\n") -> "list[int]":
        return [await step(i) for i in range({n}) if not i % 2 and self.ready is None]  # every second one
'''
JAVASCRIPT = """
export class Pump{n} extends Machine {{
  #rate = 0b1010 + 1_000;
  constructor(name) {{ super(`pump ${{name}} of {n}`); this.pattern = /^[a-z]+\\/(\\d{{2}})$/gi; }}
  get label() {{ return this.name?.trim() ?? 'none'; }}  // a getter
  run = async (...steps) => {{ for (const s of steps) {{ if (s !== null) await s(this); else break; }} }}
}}
"""
C = """
#define LIMIT_{n} (1u << {n})
/* a comment
   of two lines */
static inline int run_{n}(struct pump *p, const char *name) {{
    for (int i = 0; i < LIMIT_{n} && p->next != NULL; ++i) printf("%s: %d\\n", name, 'x' + i);
    return p ? p->rate * 1.5f : -1;
}}
"""
HTML = """
<div class="pump" id='p{n}' hidden><!-- number {n} --><a href="/pumps?n={n}&amp;x=1">Pump {n}</a>
<style>.pump {{ color: #ff00{n:02}; margin: 0 {n}px }}</style><script>var n = {n} + "text";</script></div>
"""
SOURCES = [(lexer(), "".join(text.format(n=n) for n in range(10))) for lexer, text in
           ((PythonLexer, PYTHON), (JavascriptLexer, JAVASCRIPT), (CLexer, C), (HtmlLexer, HTML))]
FORMATTERS = [HtmlFormatter(linenos="inline", anchorlinenos=True), Terminal256Formatter()]


def work():
    return [highlight(text, lexer, formatter) for lexer, text in SOURCES for formatter in FORMATTERS]
