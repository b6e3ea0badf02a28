"""The web application that apps.py lets gunicorn serve: a page, a search, JSON, and a form."""

import datetime

import flask
import jinja2

PAGE = """\
<!doctype html><title>{{ title }}</title><h1>{{ title|title }}</h1>
{% macro shown(book) %}<b>{{ book.title }}</b> by {{ book.author|upper }}, {{ "%.2f"|format(book.price) }}{% endmacro %}
<table>{% for book in books %}<tr class="{{ loop.cycle("odd", "even") }}"><td>{{ loop.index }}<td>{{ shown(book) }}<td>
{%- for tag in book.tags|sort %}<i>{{ tag|replace("-", " ") }}</i>{{ ", " if not loop.last }}{% else %}-{% endfor %}</tr>
{% endfor %}</table><p>{{ books|length }} books, {{ books|sum(attribute="price")|round(2) }} in all</p>"""
TAGS = ("new", "second-hand", "signed", "rare")

app = flask.Flask(__name__)
app.jinja_loader = jinja2.DictLoader({"page.html": PAGE})


class Book:
    def __init__(self, number):
        self.number = number
        self.title = f"Book <{number * 7 % 100}>"
        self.author = f"author {number % 9}"
        self.price = number * 1.25 + 3
        self.printed = datetime.date(1990, 1, 1) + datetime.timedelta(days=number * 31)
        self.tags = [tag for k, tag in enumerate(TAGS) if number >> k & 1]

    def as_json(self):
        return {"number": self.number, "title": self.title, "author": {"name": self.author}, "price": self.price,
                "printed": self.printed.isoformat(), "age": sum(range(self.number % 17)), "tags": self.tags}


BOOKS = [Book(number) for number in range(200)]


@app.get("/ready")
def ready():
    return "yes"


@app.get("/")
def page():
    return flask.render_template("page.html", title="all the books", books=BOOKS[:45])


@app.get("/search")
def search():
    word, most = flask.request.args["word"], float(flask.request.args.get("most", "inf"))
    found = [book for book in BOOKS if word in book.title.lower() and book.price <= most]
    text = "<form action=/search><input name=word value='{{ word }}'></form>" + PAGE
    return flask.render_template_string(text, title="found", word=word, books=sorted(found, key=lambda book: (book.author, book.price))[:20])


@app.get("/api/books/<int:count>")
def books(count):
    return flask.jsonify([book.as_json() for book in BOOKS[:count]])


@app.post("/api/order")
def order():
    wanted = flask.request.get_json()
    lines = [{"title": BOOKS[n].title, "count": count, "price": round(BOOKS[n].price * count, 2)} for n, count in wanted["books"] if n < len(BOOKS)]
    if len(lines) < len(wanted["books"]):
        return flask.jsonify(error="no such book"), 404
    return flask.jsonify(lines=lines, total=round(sum(line["price"] for line in lines), 2)), 201
