"""Text taken apart and put together by hand: a tokenizer, a parser of nested data, a writer with escapes, wrapping, roman numbers, templates."""

from support import each


def tokens(text):
    i, n = 0, len(text)
    while i < n:
        c = text[i]
        if c in " \t\n":
            i += 1
        elif c in "[]{}:,":
            yield c, c
            i += 1
        elif c == '"':
            j = i + 1
            parts = []
            while j < n and text[j] != '"':
                if text[j] == "\\":
                    j += 1
                    parts.append({"n": "\n", "t": "\t"}.get(text[j], text[j]))
                else:
                    parts.append(text[j])
                j += 1
            if j >= n:
                raise SyntaxError(f"open text at {i}")
            yield "text", "".join(parts)
            i = j + 1
        elif c.isdigit() or c == "-":
            j = i + 1
            while j < n and (text[j].isdigit() or text[j] in ".e"):
                j += 1
            word = text[i:j]
            yield "number", float(word) if "." in word or "e" in word else int(word)
            i = j
        elif c.isalpha():
            j = i
            while j < n and text[j].isalpha():
                j += 1
            yield "word", text[i:j]
            i = j
        else:
            raise SyntaxError(f"{c!r} at {i}")


WORDS = {"true": True, "false": False, "null": None}


def parse(text):
    stream = tokens(text)
    def value(kind, v):
        if kind in ("number", "text"):
            return v
        if kind == "word":
            return WORDS[v]
        if kind == "[":
            out = []
            while (t := next(stream))[0] != "]":
                if t[0] != ",":
                    out.append(value(*t))
            return out
        if kind == "{":
            out = {}
            while (t := next(stream))[0] != "}":
                if t[0] == ",":
                    continue
                colon = next(stream)
                if colon[0] != ":":
                    raise SyntaxError(f"no colon but {colon[1]!r}")
                out[t[1]] = value(*next(stream))
            return out
        raise SyntaxError(f"unexpected {kind}")
    try:
        result = value(*next(stream))
    except StopIteration:
        raise SyntaxError("ended early") from None
    return result, list(stream)


def write(x):
    if x is None or x is True or x is False:
        return {None: "null", True: "true", False: "false"}[x]
    if isinstance(x, str):
        return '"' + "".join("\\n" if c == "\n" else "\\" + c if c in '"\\' else c if ord(c) < 128 else f"\\u{ord(c):04x}" for c in x) + '"'
    if isinstance(x, (int, float)):
        return repr(x)
    if isinstance(x, dict):
        return "{" + ", ".join(f"{write(k)}: {write(v)}" for k, v in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(write, x)) + "]"
    raise TypeError(f"can't write {type(x).__name__}")


def wrapped(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line.ljust(width, "."))
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return lines


def roman(n):
    out = ""
    for value, sign in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while n >= value:
            out += sign
            n -= value
    return out


def filled(template, **names):
    out, i = [], 0
    while (j := template.find("{", i)) >= 0:
        k = template.index("}", j)
        out += [template[i:j], str(names[template[j + 1:k]])]
        i = k + 1
    return "".join(out) + template[i:]


each(parse, ('[1, -2.5, "a\\n\\"b", true, null]',), ('{"k": {"l": [1e3, []]}, "m": {}}',), ("12 rest",), ("[1, 2",), ('"open',), ("nope",), ("{1 2}",), ("?",), ("",), ("]",), ("1.2.3",), times=40)
each(write, ({"k": [1, 2.5, None, (True,)], "ä": "q\"\\\n"},), ([],), ({1: 2},), ({1, 2},), ([object],), (float("inf"),), times=40)
each(wrapped, ("the quick brown fox jumps", 10), ("", 5), ("longerthanwidth x", 4), ("a b", 1.5), (5, 5))
each(roman, (1994,), (0,), (3.5,), (4000,), ("x",))
each(lambda t: filled(t, a=1, b="two"), ("{a}-{b}-{a}",), ("none",), ("{missing}",), ("{open",), ("",))
