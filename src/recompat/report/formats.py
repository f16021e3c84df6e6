"""The formats of a report: what each is called, what draws it, and where the site has it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from recompat.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from recompat.summary import Summary

__all__ = ["FORMATS", "SITE", "Format", "known_format"]


class Format(NamedTuple):  # --help lists them, and imports nothing that costs
    """A format. ``drawn_by`` is ``module.function`` below ``recompat.report``; ``file`` is its name in the site."""

    name: str
    drawn_by: str
    what: str
    file: str | None = None

    def render(self, summary: Summary) -> bytes:
        """Draw ``summary``, in UTF-8; what draws it is imported no sooner, since some of it takes a while."""
        module, _, function = self.drawn_by.rpartition(".")
        drawing = importlib.import_module(f"recompat.report.{module}")
        draw = cast("Callable[[Summary], str | bytes]", getattr(drawing, function))
        drawn = draw(summary)
        return drawn if isinstance(drawn, bytes) else drawn.encode()


FORMATS: Final = {
    one.name: one
    for one in (
        Format("html", "html.render_html", "the page, in one file", "index.html"),
        Format("markdown", "markdown.render_markdown", "everything, for GitHub", "matrix.md"),
        Format("markdown-short", "comment.render_markdown_short", "what needs a reader, for a comment"),
        Format("text", "terminal.render_text", "what a terminal shows, without colours"),
        Format("rst", "rst.render_rst", "reStructuredText, for Sphinx"),
        Format("latex", "latex.render_latex", "tables for an article"),
        Format("json", "json.encode_json", "everything, for programs", "matrix.json"),
        Format("junit", "junit.render_junit", "test results, for CI servers", "junit.xml"),
        Format("ctrf", "ctrf.render_ctrf", "test results, as the Common Test Report Format", "ctrf.json"),
        Format("badge-json", "badge.render_badge_json", "a badge, for Shields", "badge.json"),
        Format("badge-svg", "badge.render_badge_svg", "a badge, for a README", "badge.svg"),
        Format("picture", "picture.render_picture", "the grid as a picture", "matrix.svg"),
        Format("atom", "feed.render_feed", "what each release changed, for feed readers", "feed.xml"),
    )
}
"""Every format, by the name that ``--format`` takes."""

SITE: Final = {one.file: one for one in FORMATS.values() if one.file is not None}
"""Those that have a file in the site, by its name."""


def known_format(name: str) -> str:
    """Read the name of a format.

    Raises:
        ConfigurationError: there is none of that name.
    """
    if name in FORMATS:
        return name
    from recompat.tables import close_to

    closest = close_to(name, FORMATS)
    rest = f" The formats are {', '.join(FORMATS)}." if closest.endswith("?") else ""
    raise ConfigurationError(f"There is no format {name}; {closest}{rest}")
