"""A web shop of Flask, SQLAlchemy and jinja2, called through its WSGI callable: pages, JSON, forms,
sessions, redirects."""

import datetime
import re

import flask
import jinja2
import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.pool import StaticPool
from werkzeug.test import EnvironBuilder, run_wsgi_app


class Base(orm.DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str]
    books: orm.Mapped[list["Book"]] = orm.relationship(back_populates="author", order_by="Book.title")


class Book(Base):
    __tablename__ = "book"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str]
    price: orm.Mapped[float]
    printed: orm.Mapped[datetime.date]
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("author.id"))
    author: orm.Mapped[Author] = orm.relationship(back_populates="books")
    reviews: orm.Mapped[list["Review"]] = orm.relationship(cascade="all, delete-orphan")


class Review(Base):
    __tablename__ = "review"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    book_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("book.id"))
    stars: orm.Mapped[int]
    text: orm.Mapped[str]


TEMPLATES = {
    "base.html": """<!doctype html><title>{% block title %}Books{% endblock %}</title>
{% with messages = get_flashed_messages() %}{% for message in messages %}<p class=flash>{{ message }}</p>{% endfor %}{% endwith %}
{% block body %}{% endblock %}<p>{{ session.get("seen", 0) }} pages seen, {{ request.path }}</p>""",
    "list.html": """{% extends "base.html" %}{% block body %}<ul>{% for book in books %}
<li class="{{ loop.cycle("a", "b") }}"><a href="{{ url_for("book", number=book.id) }}">{{ book.title|title }}</a> by {{ book.author.name }},
{{ "%.2f"|format(book.price) }} {{ book.printed|year }}</li>{% else %}<li>nothing{% endfor %}</ul>{% endblock %}""",
    "book.html": """{% extends "base.html" %}{% block title %}{{ book.title }}{% endblock %}{% block body %}
<h1>{{ book.title }}</h1>{% for review in book.reviews %}<blockquote>{{ "*" * review.stars }} {{ review.text }}</blockquote>{% endfor %}
<p>Also by {{ book.author.name }}: {% for other in book.author.books if other.id != book.id %}{{ other.title }}{{ ", " if not loop.last }}{% endfor %}</p>{% endblock %}""",
}

engine = sa.create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
Session = orm.sessionmaker(engine)
app = flask.Flask("shop")
app.secret_key = "for a benchmark"
app.jinja_loader = jinja2.DictLoader(TEMPLATES)


@app.template_filter("year")
def year(date):
    return f"({date:%Y})"


@app.before_request
def opened():
    flask.g.db = Session()
    flask.session["seen"] = flask.session.get("seen", 0) + 1


@app.teardown_request
def closed(error):
    flask.g.db.close()


@app.get("/")
def start():
    word = flask.request.args.get("q", "")
    query = sa.select(Book).options(orm.joinedload(Book.author)).order_by(Book.price, Book.id).limit(25)
    if word:
        query = query.where(Book.title.contains(word) | Book.author.has(Author.name.contains(word)))
    return flask.render_template("list.html", books=flask.g.db.scalars(query).all())


@app.get("/book/<int:number>")
def book(number):
    found = flask.g.db.get(Book, number) or flask.abort(404)
    return flask.render_template("book.html", book=found)


@app.post("/book/<int:number>/review")
def review(number):
    found = flask.g.db.get(Book, number) or flask.abort(404)
    try:
        stars = int(flask.request.form["stars"])
    except ValueError:
        flask.abort(400)
    found.reviews.append(Review(stars=stars, text=flask.request.form["text"]))
    flask.g.db.commit()
    flask.flash("Thank you")
    return flask.redirect(flask.url_for("book", number=number))


@app.get("/api/authors")
def authors():
    query = sa.select(Author.name, sa.func.count(Book.id), sa.func.avg(Book.price)).join(Author.books).group_by(Author.id).order_by(Author.name)
    return flask.jsonify([{"name": name, "books": count, "price": round(price, 2)} for name, count, price in flask.g.db.execute(query)])


Base.metadata.create_all(engine)
with Session.begin() as setup:
    for n in range(12):
        writer = Author(name=f"Author <{n * 5 % 12}>")
        for k in range(n % 5 + 3):
            writer.books.append(Book(title=f"the {'red blue old new'.split()[(n + k) % 4]} book no. {n * 10 + k}", price=n * 7 % 10 + k + 0.5,
                                     printed=datetime.date(1990 + n, k + 1, 1)))
        setup.add(writer)


class Browser:
    """Calls the application and keeps its cookie."""

    def __init__(self):
        self.cookie = ""

    def open(self, path, form=None):
        builder = EnvironBuilder(path=path, method="POST" if form else "GET", data=form, headers={"Cookie": self.cookie} if self.cookie else {})
        body, status, headers = run_wsgi_app(app.wsgi_app, builder.get_environ(), buffered=True)
        for line in headers.getlist("Set-Cookie"):
            self.cookie = line.partition(";")[0]
        return status, b"".join(body).decode()


def work():
    browser, seen = Browser(), []
    for path in ("/", "/?q=red", "/book/3", "/book/17", "/book/999", "/api/authors", "/?q=nothing+of+this"):
        seen.append(browser.open(path))
    seen.append(browser.open("/book/3/review", {"stars": "4", "text": "good & <long>"}))
    seen.append(browser.open("/book/3/review", {"stars": "many", "text": "-"}))
    seen.append(browser.open("/book/3"))
    with Session.begin() as session:
        session.execute(sa.delete(Review))
    return [(status, len(re.findall("<li|<blockquote|class=flash|name", text)), text if status.startswith("200") else "") for status, text in seen]
