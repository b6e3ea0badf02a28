"""A small language: tokenizer, parser to a tree, and an interpreter for it with functions, loops and errors."""


class Error(Exception):
    pass


def tokens(text):
    out = []
    i = 0
    line = 1
    while i < len(text):
        c = text[i]
        if c == "\n":
            line += 1
            i += 1
        elif c.isspace():
            i += 1
        elif c.isdigit():
            j = i
            while j < len(text) and (text[j].isdigit() or text[j] == "."):
                j += 1
            word = text[i:j]
            out.append(("num", float(word) if "." in word else int(word), line))
            i = j
        elif c.isalpha():
            j = i
            while j < len(text) and text[j].isalnum():
                j += 1
            out.append(("name", text[i:j], line))
            i = j
        elif text[i:i + 2] in ("==", "<=", ">=", "!="):
            out.append(("op", text[i:i + 2], line))
            i += 2
        elif c in "+-*/%<>=(){},;":
            out.append(("op", c, line))
            i += 1
        else:
            raise Error(f"line {line}: what is {c!r}?")
    out.append(("end", "", line))
    return out


LEVELS = [("==", "!=", "<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%")]


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.at = 0

    def next(self):
        t = self.tokens[self.at]
        self.at += 1
        return t

    def sees(self, *words):
        kind, value, _ = self.tokens[self.at]
        return kind != "num" and value in words

    def need(self, word):
        kind, value, line = self.next()
        if value != word or kind == "num":
            raise Error(f"line {line}: {word!r} expected, not {value!r}")

    def program(self):
        body = []
        while self.tokens[self.at][0] != "end":
            body.append(self.statement())
        return body

    def block(self):
        self.need("{")
        body = []
        while not self.sees("}"):
            if self.tokens[self.at][0] == "end":
                raise Error("unfinished block")
            body.append(self.statement())
        self.next()
        return body

    def statement(self):
        if self.sees("while"):
            self.next()
            return "while", self.expression(), self.block()
        if self.sees("if"):
            self.next()
            test, then = self.expression(), self.block()
            if self.sees("else"):
                self.next()
                return "if", test, then, self.block()
            return "if", test, then, []
        if self.sees("def"):
            self.next()
            name = self.next()[1]
            self.need("(")
            params = []
            while not self.sees(")"):
                params.append(self.next()[1])
                if self.sees(","):
                    self.next()
            self.next()
            return "def", name, params, self.block()
        if self.sees("return", "print"):
            word = self.next()[1]
            value = self.expression()
            self.need(";")
            return word, value
        if self.tokens[self.at][0] == "name" and self.tokens[self.at + 1][1] == "=":
            name = self.next()[1]
            self.next()
            value = self.expression()
            self.need(";")
            return "set", name, value
        value = self.expression()
        self.need(";")
        return "do", value

    def expression(self, level=0):
        if level == len(LEVELS):
            return self.atom()
        left = self.expression(level + 1)
        while self.sees(*LEVELS[level]):
            op = self.next()[1]
            left = ("bin", op, left, self.expression(level + 1))
        return left

    def atom(self):
        kind, value, line = self.next()
        if kind == "num":
            return "num", value
        if kind == "name":
            if self.sees("("):
                self.next()
                args = []
                while not self.sees(")"):
                    args.append(self.expression())
                    if self.sees(","):
                        self.next()
                self.next()
                return "call", value, args
            return "get", value
        if value == "(":
            inner = self.expression()
            self.need(")")
            return inner
        if value == "-":
            return "bin", "-", ("num", 0), self.atom()
        raise Error(f"line {line}: unexpected {value!r}")


class Return(Exception):
    def __init__(self, value):
        self.value = value


class Machine:
    def __init__(self):
        self.functions = {}
        self.out = []
        self.steps = 0

    def run(self, body, env):
        for s in body:
            self.steps += 1
            kind = s[0]
            if kind == "set":
                env[s[1]] = self.eval(s[2], env)
            elif kind == "while":
                while self.eval(s[1], env):
                    self.run(s[2], env)
            elif kind == "if":
                self.run(s[2] if self.eval(s[1], env) else s[3], env)
            elif kind == "print":
                self.out.append(self.eval(s[1], env))
            elif kind == "return":
                raise Return(self.eval(s[1], env))
            elif kind == "def":
                self.functions[s[1]] = s[2], s[3]
            else:
                self.eval(s[1], env)

    def eval(self, e, env):
        kind = e[0]
        if kind == "num":
            return e[1]
        if kind == "get":
            try:
                return env[e[1]]
            except KeyError:
                raise Error(f"no variable {e[1]}") from None
        if kind == "call":
            if e[1] not in self.functions:
                raise Error(f"no function {e[1]}")
            params, body = self.functions[e[1]]
            args = [self.eval(a, env) for a in e[2]]
            if len(args) != len(params):
                raise Error(f"{e[1]} takes {len(params)}, not {len(args)}")
            try:
                self.run(body, dict(zip(params, args)))
            except Return as r:
                return r.value
            return 0
        op, a, b = e[1], self.eval(e[2], env), self.eval(e[3], env)
        if op == "+":
            return a + b
        if op == "-":
            return a - b
        if op == "*":
            return a * b
        if op == "/":
            return a / b
        if op == "%":
            return a % b
        return {"==": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[op]


def execute(text):
    m = Machine()
    try:
        m.run(Parser(text).program(), {})
    except (Error, ZeroDivisionError, Return) as error:
        m.out.append(f"{type(error).__name__}: {error}")
    return m.out, m.steps


print(execute("i = 0; s = 0; while i < 600 { s = s + i * i % 7; if i == 590 { s = s + 0.5; } i = i + 1; } print s;"))
print(execute("def fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); } print fib(13);"))
print(execute("def gcd(a, b) { while b != 0 { t = a % b; a = b; b = t; } return a; } print gcd(1071, 462); print gcd(2, 0) == 2;"))
print(execute("def p(n) { d = 2; while d * d <= n { if n % d == 0 { return 0; } d = d + 1; } return 1; } n = 2; c = 0; while n < 300 { c = c + p(n); n = n + 1; } print c;"))
for bad in ("x = 1 +;", "print y;", "f(1);", "def f(a) { return a; } f();", "print 1 / 0;", "while 1 { x = 2;", "x = 3 $ 4;", "return 5;", "print (1;",
            "def r(n) { return 10 / n + r(n - 1); } print r(40);"):
    print(execute(bad))
