"""A shop's pages by jinja2: inheritance, macros, filters, loops in loops; compiled once, rendered
often."""

import jinja2

TEMPLATES = {
    "base.html": """\
<!doctype html><title>{% block title %}{% endblock %} - {{ shop.name|title }}</title>
<nav>{% for name, url in shop.links %}<a href="{{ url }}"{% if loop.first %} class=first{% endif %}>{{ name }}</a>{% endfor %}</nav>
{% block body %}{% endblock %}<footer>{{ shop.name|upper }}, {{ items|length }} items</footer>""",
    "macros.html": """\
{% macro price(item, currency="EUR") -%}
{% if item.sale %}<del>{{ "%.2f"|format(item.price) }}</del> <b>{{ "%.2f"|format(item.price * 0.8) }}</b>{% else %}{{ "%.2f"|format(item.price) }}{% endif %} {{ currency }}
{%- endmacro %}""",
    "list.html": """\
{% extends "base.html" %}{% from "macros.html" import price %}
{% block title %}Page {{ page }}{% endblock %}
{% block body %}{% for group in items|groupby("kind") %}<h2>{{ group.grouper|capitalize }} ({{ group.list|length }})</h2><table>
{% for item in group.list|sort(attribute="price") %}<tr class="{{ loop.cycle("odd", "even") }}"><td>{{ loop.index }}</td>
<td>{{ item.title }}</td><td>{{ price(item) }}</td><td>{% for tag in item.tags if tag != "old" %}<i>{{ tag|replace("-", " ") }}</i>{% else %}none{% endfor %}</td></tr>
{% endfor %}</table>{% endfor %}{% endblock %}""",
}
KINDS = ("lamps", "chairs", "tables", "rugs")


class Item:
    def __init__(self, number):
        self.title = f"Number <{number}> & more"
        self.kind = KINDS[number % 4]
        self.price = number * 37 % 400 + 0.95
        self.sale = number % 5 == 0
        self.tags = [tag for k, tag in enumerate(("new", "old", "hand-made", "eco")) if number >> k & 1]


environment = jinja2.Environment(loader=jinja2.DictLoader(TEMPLATES), autoescape=True)
template = environment.get_template("list.html")
items = [Item(number) for number in range(900)]
shop = {"name": "the furnished room", "links": [("Start", "/"), ("Basket", "/basket"), ("Help", "/help?a=1&b=2")]}


def work():
    return [template.render(shop=shop, items=items[page * 90:page * 90 + 90], page=page + 1) for page in range(10)]
