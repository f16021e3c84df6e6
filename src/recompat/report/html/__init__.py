"""``index.html``: the matrix as one file that needs nothing from anywhere, for a browser with or without JavaScript."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from recompat.report.html.draw import page
from recompat.report.text import clean, visible

if TYPE_CHECKING:
    from jinja2 import Environment

    from recompat.summary import Summary

__all__ = ["render_html"]

LONGEST = 4_000  # characters of a docstring


def render_html(summary: Summary) -> str:
    """Write the page. Whatever a record holds is text in it: escaped, without characters that are not seen, and cut."""
    style, script = _read("page.css"), _read("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().from_string(_read("page.html.j2"))
    return template.render(page=page(summary), style=style, script=script, script_digest=digest)


def _environment() -> Environment:
    """Escapes every value; ``finalize`` sees each of them before."""
    import jinja2  # a tenth of the start-up, and not every command writes the page

    made = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    made.globals.update(Markup=Markup, clean=clean, prose=_prose)
    return made


def _shown(value: object) -> object:
    """Take what is not seen out of a text; what is marked as markup is our own."""
    return visible(value) if type(value) is str and not value.isprintable() else value


def _prose(text: str) -> Markup:
    """Escape what a docstring says, with ````code```` between double backquotes as code."""
    parts = clean(text, LONGEST).split("``")
    quoted = len(parts) % 2 == 1  # each that opens is closed
    return Markup("" if quoted else "``").join(
        Markup("<code>{}</code>").format(part) if quoted and place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
