"""A parser and writer for JSON, with positions in its errors, over generated and broken documents."""


class ParseError(ValueError):
    def __init__(self, what, at):
        super().__init__(f"{what} at {at}")
        self.at = at


class Parser:
    ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "r": "\r"}

    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self):
        text, at = self.text, self.at
        while at < len(text) and text[at] in " \n\t\r":
            at += 1
        self.at = at
        return text[at] if at < len(text) else ""

    def expect(self, c):
        if self.peek() != c:
            raise ParseError(f"expected {c!r}", self.at)
        self.at += 1

    def value(self):
        c = self.peek()
        if c == "{":
            return self.object()
        if c == "[":
            return self.array()
        if c == '"':
            return self.string()
        if c == "-" or c.isdigit():
            return self.number()
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        raise ParseError("unexpected " + (repr(c) if c else "end"), self.at)

    def object(self):
        self.expect("{")
        out = {}
        if self.peek() == "}":
            self.at += 1
            return out
        while True:
            if self.peek() != '"':
                raise ParseError("expected a key", self.at)
            key = self.string()
            self.expect(":")
            out[key] = self.value()
            if self.peek() == ",":
                self.at += 1
                continue
            self.expect("}")
            return out

    def array(self):
        self.expect("[")
        out = []
        if self.peek() == "]":
            self.at += 1
            return out
        while True:
            out.append(self.value())
            if self.peek() == ",":
                self.at += 1
            else:
                self.expect("]")
                return out

    def string(self):
        self.at += 1
        out = []
        while True:
            if self.at >= len(self.text):
                raise ParseError("unfinished string", self.at)
            c = self.text[self.at]
            self.at += 1
            if c == '"':
                return "".join(out)
            if c == "\\":
                c = self.text[self.at:self.at + 1]
                self.at += 1
                if c == "u":
                    digits = self.text[self.at:self.at + 4]
                    self.at += 4
                    try:
                        out.append(chr(int(digits, 16)))
                    except ValueError as error:
                        raise ParseError("bad escape", self.at) from error
                    continue
                if c not in self.ESCAPES:
                    raise ParseError("bad escape", self.at)
                c = self.ESCAPES[c]
            out.append(c)

    def number(self):
        start = self.at
        text = self.text
        n = 0
        negative = text[self.at] == "-"
        if negative:
            self.at += 1
        while self.at < len(text) and "0" <= text[self.at] <= "9":
            n = n * 10 + ord(text[self.at]) - 48
            self.at += 1
        if self.at < len(text) and text[self.at] in ".eE":
            while self.at < len(text) and text[self.at] in "0123456789.eE+-":
                self.at += 1
            return float(text[start:self.at])
        return -n if negative else n


def parse(text):
    p = Parser(text)
    v = p.value()
    if p.peek():
        raise ParseError("rubbish", p.at)
    return v


def write(v, indent=0):
    if v is None or v is True or v is False:
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, str):
        out = '"'
        for c in v:
            out += "\\" + c if c in '"\\' else f"\\u{ord(c):04x}" if c < " " or c > "~" else c
        return out + '"'
    if isinstance(v, (int, float)):
        return repr(v)
    if isinstance(v, list):
        return "[" + ",".join([write(x) for x in v]) + "]"
    return "{" + ",".join(f"{write(k)}:{write(x)}" for k, x in v.items()) + "}"


def document(n, depth=0):
    if depth == 3:
        return n * 12345678901 if n % 2 else n / 8
    kinds = [None, True, "text é\n\"q\"", n, -n * 0.5, [document(n + i, depth + 1) for i in range(4)],
             {f"k{i}": document(n * 2 + i, depth + 1) for i in range(3)}]
    return [kinds[(n + i) % 7] for i in range(7)]


doc = document(3)
text = write(doc)
again = parse(text)
print(len(text), again == doc, write(again) == text, text[:60])
print(parse(' { "a" : [ 1 , 2.5e3 , -7, 1E2 ] , "b" : {} , "c":[], "d":"\\u0041\\n" } '))
for bad in ("", "[1, 2", '{"a" 1}', "{1: 2}", '"abc', '"\\x"', '"\\uzzzz"', "[1] 2", "nul", "[1,,2]", "-", "1.2.3", "[" * 50 + "}"):
    try:
        print(parse(bad))
    except ValueError as error:
        print(type(error).__name__, error, type(error.__cause__).__name__)
broken = 0
for cut in range(1, len(text), 199):
    try:
        parse(text[:cut])
    except ValueError as error:
        broken += getattr(error, "at", 1)
print(broken)
