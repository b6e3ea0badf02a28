"""Text: wrapping, justifying, a tokenizer for Python-like code, run-length and LZ coding, edit distance, a spell checker."""

TEXT = """The lichen is not one thing but two or more that live as one: a fungus which gives the house and an alga which brings
the light. Neither could live on bare rock alone. Together they may outlast the stone, and they are in no hurry whatever about it."""


def wrap(text, width):
    lines, line, used = [], [], 0
    for word in text.split():
        if len(word) > width:
            raise ValueError(f"{word!r} is wider than {width}")
        if used + len(word) + len(line) > width:
            lines.append(line)
            line, used = [], 0
        line.append(word)
        used += len(word)
    if line:
        lines.append(line)
    return lines


def justify(text, width):
    out = []
    lines = wrap(text, width)
    for words in lines[:-1]:
        gaps = len(words) - 1
        spare = width - sum(map(len, words))
        line = ""
        for i, w in enumerate(words):
            line += w
            if i < gaps:
                line += " " * (spare // gaps + (1 if i < spare % gaps else 0))
        out.append(line.ljust(width, "_"))
    out.append(" ".join(lines[-1]))
    return out


def rle(text):
    out = ""
    i = 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out += f"{j - i}{text[i]}"
        i = j
    return out


def lz(text):
    table = {chr(i): i for i in range(256)}
    w = ""
    out = []
    for c in text:
        if w + c in table:
            w += c
        else:
            out.append(table[w])
            table[w + c] = len(table)
            w = c
    if w:
        out.append(table[w])
    return out


def unlz(codes):
    table = {i: chr(i) for i in range(256)}
    w = out = table[codes[0]]
    for k in codes[1:]:
        entry = table[k] if k in table else w + w[0]
        out += entry
        table[len(table)] = w + entry[0]
        w = entry
    return out


def distance(a, b):
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        previous, row[0] = row[0], i
        for j in range(1, len(b) + 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a[i - 1] != b[j - 1]))
    return row[-1]


def suggest(word, words):
    best = []
    least = 1000
    for w in words:
        d = distance(word, w)
        if d < least:
            best, least = [w], d
        elif d == least:
            best.append(w)
    return sorted(best), least


KEYWORDS = {"def", "return", "if", "else", "for", "in", "while"}


def tokenize(source):
    out = []
    indents = [0]
    for number, line in enumerate(source.splitlines(), 1):
        stripped = line.lstrip(" ")
        if not stripped or stripped[0] == "#":
            continue
        depth = len(line) - len(stripped)
        if depth > indents[-1]:
            indents.append(depth)
            out.append(("INDENT", number))
        while depth < indents[-1]:
            indents.pop()
            out.append(("DEDENT", number))
        if depth != indents[-1]:
            raise IndentationError(f"line {number}")
        i = 0
        while i < len(stripped):
            c = stripped[i]
            j = i + 1
            if c == " ":
                i = j
                continue
            if c.isalpha() or c == "_":
                while j < len(stripped) and (stripped[j].isalnum() or stripped[j] == "_"):
                    j += 1
                word = stripped[i:j]
                out.append(("KEY" if word in KEYWORDS else "NAME", word))
            elif c.isdigit():
                while j < len(stripped) and (stripped[j].isdigit() or stripped[j] in ".e"):
                    j += 1
                out.append(("NUM", float(stripped[i:j]) if "." in stripped[i:j] else int(stripped[i:j])))
            elif c in "'\"":
                while j < len(stripped) and stripped[j] != c:
                    j += 2 if stripped[j] == "\\" else 1
                if j >= len(stripped):
                    raise SyntaxError(f"line {number}: unfinished string")
                j += 1
                out.append(("STR", stripped[i:j]))
            else:
                if stripped[i:j + 1] in ("==", "+=", "<=", "**", "->"):
                    j += 1
                out.append(("OP", stripped[i:j]))
            i = j
    return out


SOURCE = '''def f(x, y=2.5):
    # a comment
    if x == y:
        return 'it''s "quoted"'
    for i in range(10):
        x += i ** 2
    return x
''' * 6
print("\n".join(justify(TEXT, 48)))
print(rle("aaabccccd" * 30)[:40], len(rle(TEXT)))
coded = lz(TEXT * 5)
print(len(TEXT) * 5, len(coded), unlz(coded) == TEXT * 5, coded[:12])
words = sorted({w.strip(".,:").lower() for w in TEXT.split()})
print([suggest(w, words) for w in ("lichan", "stoen", "hurri", "xyz")])
found = tokenize(SOURCE)
kinds = {}
for kind, _ in found:
    kinds[kind] = kinds.get(kind, 0) + 1
print(len(found), sorted(kinds.items()), found[:6])
for f in (lambda: wrap(TEXT, 5), lambda: tokenize("if x:\n    y\n  z"), lambda: tokenize("a = 'b"), lambda: unlz([]), lambda: lz("☃a"), lambda: distance("a", None)):
    try:
        f()
    except (ValueError, SyntaxError, IndexError, KeyError, TypeError) as error:
        print(type(error).__name__, error)
