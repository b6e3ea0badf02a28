"""A small language, parsed by lark with LALR tables and a contextual lexer, and evaluated by a
transformer."""

import operator

from lark import Lark, Transformer, v_args

GRAMMAR = r"""
start: statement+
statement: NAME "=" sum ";" -> assign
         | "print" sum ("," sum)* ";" -> show
         | "if" comparison block ("else" block)? -> branch
block: "{" statement* "}"
?comparison: sum (LESS | MORE | SAME) sum -> compare
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER -> number | "-" atom -> neg | NAME -> name | "(" sum ")" | NAME "(" [sum ("," sum)*] ")" -> call
LESS: "<"
MORE: ">"
SAME: "=="
NAME: /[a-z_][a-z_0-9]*/
NUMBER: /\d+(\.\d+)?/
COMMENT: /#[^\n]*/
%ignore /\s+/
%ignore COMMENT
"""
PROGRAM = "".join(f"""
# part {n}
width_{n} = {n} * 3 + 4.5; height_{n} = (width_{n} - 1) / 2 * -1;
area = width_{n} * height_{n} + max(width_{n}, height_{n}, {n});
if area < {n} {{ print area, min(area, 0) - 1; total = total + area; }} else {{ print -area; if total > 100 {{ total = 0; }} }}
""" for n in range(1, 16))


@v_args(inline=True)
class Compiled(Transformer):
    """Each rule becomes a closure over the variables."""

    def number(self, token):
        value = float(token)
        return lambda env: value

    def name(self, token):
        return lambda env: env.get(str(token), 0.0)

    def neg(self, a):
        return lambda env: -a(env)

    def _binary(function):
        return lambda self, a, b: lambda env: function(a(env), b(env))

    add, sub, mul, div = map(_binary, (operator.add, operator.sub, operator.mul, operator.truediv))

    def compare(self, a, sign, b):
        function = {"<": operator.lt, ">": operator.gt, "==": operator.eq}[str(sign)]
        return lambda env: function(a(env), b(env))

    def call(self, name, *arguments):
        function = {"max": max, "min": min}[str(name)]
        return lambda env: function(a(env) for a in arguments)

    def assign(self, name, value):
        return lambda env: env.__setitem__(str(name), value(env))

    def show(self, *values):
        return lambda env: env["out"].append([round(value(env), 6) for value in values])

    def block(self, *statements):
        return lambda env: [statement(env) for statement in statements]

    start = block

    def branch(self, test, then, otherwise=None):
        return lambda env: then(env) if test(env) else otherwise and otherwise(env)


parser = Lark(GRAMMAR, parser="lalr")


def work():
    env = {"out": [], "total": 0.0}
    Compiled().transform(parser.parse(PROGRAM))(env)
    return env["out"], round(env["total"], 6)
