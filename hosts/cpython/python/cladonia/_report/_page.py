"""The page, from its template."""

from __future__ import annotations

from importlib import resources


def render(native, model):
    """The page's text. The template engine escapes the program's name and source."""
    files = resources.files(__package__)
    parts = {name: files.joinpath(f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    context = dict(model, css=parts["css"], js=parts["js"], functions=[_shown(row) for row in model["functions"]],
                   seconds=f"{model['seconds']:.2f}", processor=f"{model['processor']:.3f}", period_ms=f"{model['period_ms']:.0f}",
                   samples=f"{model['samples']:,}", periods=f"{model['periods']:,}", refused=[list(item) for item in model["refused"]],
                   not_sampled=model["not_sampled"] or "")
    return native.render(parts["html"], context)


def _shown(row):
    return {key: value for key, value in row.items() if key != "raw"}
