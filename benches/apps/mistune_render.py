"""A discussion in Markdown, by mistune with a renderer of its own and plugins."""

import mistune

POST = """
## Re: question {n}

> *somebody* wrote on 2024-0{d}-11:
>
> > Why does ~~it~~ **this** not work, see https://forum.example/t/{n}?
>
> Because `x{n} == {n}` is false, they say.

- [x] tried version {n}.{d}
- [ ] tried [the other one](http://v.example/{n} "other")
    1. first
    2. then <b>html</b> &amp; entities \\*not emphasis\\*

```python
def answer_{n}():
    return "<{n}>"
```

| who | said |
|-----|:----:|
| a{n} | yes & no |
| b | *no* |

Text with a footnote.[^f{n}]

[^f{n}]: It stands *here*.

***
"""
TEXT = "\n".join(POST.format(n=n, d=n % 9 + 1) for n in range(16))


class Linked(mistune.HTMLRenderer):
    def heading(self, text, level, **attrs):
        name = "-".join(word.lower() for word in text.split() if word.isalnum())
        return f'<h{level} id="{name}">{text}</h{level}>\n'

    def codespan(self, text):
        return "<kbd>" + mistune.escape(text) + "</kbd>"


render = mistune.create_markdown(renderer=Linked(), plugins=["strikethrough", "footnotes", "table", "url", "task_lists"])


def work():
    return render(TEXT)
