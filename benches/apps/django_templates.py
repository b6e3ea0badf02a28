"""A timetable in Django's template language, whose templates are interpreted node by node."""

import datetime

import django
from django.conf import settings
from django.template import Context, Engine

settings.configure(USE_TZ=False, USE_I18N=False)
django.setup()

TEMPLATES = {
    "page.html": """\
<!doctype html><title>{% block title %}Lines{% endblock %}</title>
{% block body %}{% endblock %}{# the end #}""",
    "row.html": """\
<tr class="{% cycle "odd" "even" %}"><td>{{ train.number|add:"100" }}</td><td>{{ train.name|title|truncatechars:18 }}</td>
<td>{{ train.leaves|date:"H:i" }}</td><td>{% if train.late > 5 and not train.cancelled %}{{ train.late }} minute{{ train.late|pluralize }} late
{% elif train.cancelled %}<b>cancelled</b>{% else %}{{ train.late|yesno:"soon,on time" }}{% endif %}</td>
<td>{% for stop in train.stops %}{{ stop|escape }}{% if not forloop.last %}, {% endif %}{% empty %}no stops{% endfor %}</td></tr>
""",
    "table.html": """\
{% extends "page.html" %}{% block title %}{{ block.super }} of {{ day|date:"j F Y" }}{% endblock %}
{% block body %}{% regroup trains by line as lines %}{% for line in lines %}<h2>{{ line.grouper|upper }}: {{ line.list|length }}</h2>
<table>{% for train in line.list %}{% include "row.html" %}{% endfor %}</table>{% with last=line.list|last %}<p>Last: {{ last.name }} {{ last.leaves|time:"H:i" }}</p>
{% endwith %}{% endfor %}{% endblock %}""",
}
engine = Engine(loaders=[("django.template.loaders.cached.Loader", [("django.template.loaders.locmem.Loader", TEMPLATES)])])
START = datetime.datetime(2024, 3, 1, 5, 0)
trains = [
    {"number": n, "name": f"express number {n} to the <coast>", "line": f"line {n // 36}", "leaves": START + datetime.timedelta(minutes=7 * n),
     "late": n * 5 % 9, "cancelled": n % 11 == 0, "stops": [f"Stop & {k}" for k in range(n % 5)]}
    for n in range(180)]


def work():
    return engine.get_template("table.html").render(Context({"trains": trains, "day": START}))
