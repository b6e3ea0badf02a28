"""A server's configuration of blocks in blocks, parsed by combinators of pyparsing."""

import pyparsing as pp

word = pp.Word(pp.alphas + "_", pp.alphanums + "_-.")
number = pp.common.number.copy()
size = pp.Combine(pp.Word(pp.nums) + pp.one_of("k m g", caseless=True)).set_parse_action(
    lambda tokens: int(tokens[0][:-1]) * {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[tokens[0][-1].lower()])
text = pp.QuotedString('"', esc_char="\\")
path = pp.Combine("/" + pp.Word(pp.alphanums + "/_-.*"))
value = size | number | text | path | word
statement = pp.Forward()
block = pp.Group(word("name") + pp.Opt(value)("label") + pp.Suppress("{") + pp.Group(pp.ZeroOrMore(statement))("body") + pp.Suppress("}"))
setting = pp.Group(word("name") + pp.Group(pp.OneOrMore(value))("values") + pp.Suppress(";"))
statement <<= setting | block
config = pp.OneOrMore(statement).ignore(pp.python_style_comment)

TEXT = "".join(f"""
# server {n}
server host-{n}.example {{
    listen 80{n:02} default;
    root /srv/www/{n};
    body_limit {n + 1}m;
    location /static/{n}/* {{ expires 30; header "X-Server" "number \\"{n}\\""; gzip on; }}
    location /api {{ proxy upstream_{n}; timeout 1.5 2.5e1; }}
}}
""" for n in range(6))


def plain(found):
    for item in found:
        if "body" in item:
            yield item["name"], item.get("label"), list(plain(item["body"]))
        else:
            yield item["name"], item["values"].as_list()


def work():
    return list(plain(config.parse_string(TEXT, parse_all=True)))
