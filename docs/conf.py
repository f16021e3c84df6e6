"""The site: the pages of the repository as they stand, README and changelog too, and every case file as a page.

Each link is followed when the site is built: to a page, to a heading, to the line of a case, to any other file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers import Parser
from sphinx.addnodes import pending_xref

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).parents[1]

project = "recompat"
author = "The recompat authors"
project_copyright = author

extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".py": "python"}
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "examples/*/README.md", "**/*.py"]
exclude_patterns = [".*", "**/.*", "**/_build", "docs/conf.py", "src", "tests", "reports", "**/reports"]  # nor walked
nitpicky = True
myst_heading_anchors = 4

html_theme = "furo"
html_title = "recompat"
html_copy_source = False
html_show_sphinx = False

ORDER = (
    *("../README", "tutorial", "report", "cases", "guard", "ci", "library", "restored"),
    *(f"../{path.parent.relative_to(ROOT)}/README" for path in sorted(ROOT.glob("examples/*/README.md"))),
    *("reference", "cli", "schemas", "reliability", "architecture", "../CONTRIBUTING", "../CHANGELOG"),
)
BEGINS = re.compile(r"def |class |@")
ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')


def setup(app: Sphinx) -> None:
    """Say what the pages have that Sphinx does not know by itself."""
    app.add_source_parser(PythonFile)
    app.connect("source-read", _as_sphinx_reads)
    app.connect("doctree-read", _without_folders)


class PythonFile(Parser):
    """A Python file that pages link to, a block for each function, so that a link to the line of a case leads there."""

    supported = ("python",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Make the page; what it notes for its anchors is what MyST looks for at the end of a link."""
        environment: BuildEnvironment = document.settings.env
        name = f"{environment.docname.rpartition('/')[2]}.py"
        page = nodes.section("", nodes.title("", name), ids=["file"], names=[name])
        slugs = {}
        for number, block in _blocks(inputstring):
            anchor = f"L{number}"
            slugs[anchor] = (number, anchor, name)
            code = nodes.literal_block(block, block, language="python", linenos=True)
            code["highlight_args"] = {"linenostart": number}
            code["force"] = True  # a text in quotes may begin as a function does, and be no Python
            page += nodes.container("", code, ids=[anchor])
        document += page
        environment.metadata[environment.docname] = {"orphan": True, "myst_slugs": slugs}


def _blocks(source: str) -> list[tuple[int, str]]:
    """The number of the first line, and the text, of each part of a file; a function or a class begins one."""
    blocks: list[tuple[int, list[str]]] = []
    for number, line in enumerate(source.splitlines(), start=1):
        decorated = bool(blocks) and blocks[-1][1][-1].startswith("@")
        if not blocks or (BEGINS.match(line) and not decorated):
            blocks.append((number, []))
        blocks[-1][1].append(line)
    return [(number, "\n".join(lines).rstrip()) for number, lines in blocks]


def _as_sphinx_reads(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Put what GitHub does not read (targets, the order of pages) where the files have what it does."""
    source[0] = ANCHOR.sub(r"(\1)=", source[0])
    if docname == root_doc:
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", *ORDER, "```\n"])


def _without_folders(app: Sphinx, document: nodes.document) -> None:
    """Leave the words alone of a link to a folder of the repository, which is no page."""
    for link in list(document.findall(pending_xref)):
        if (Path(app.srcdir, link["refdoc"]).parent / link["reftarget"]).is_dir():
            link.replace_self(link.children)
