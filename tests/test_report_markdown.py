from __future__ import annotations

import re
from html import unescape

import msgspec
import pytest
from markdown_it import MarkdownIt  # comes with rich

from golden import check_golden
from recompat.report.markdown import COMMENT, code, escape, render_markdown
from scenes import HOSTILE, as_expected, everything, hostile, many, unreachable

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def test_one_of_everything() -> None:
    check_golden("everything.md", render_markdown(everything()))


def test_all_as_expected() -> None:
    check_golden("as_expected.md", render_markdown(as_expected()))


def test_notices_follow_the_conclusion() -> None:
    noticed = msgspec.structs.replace(as_expected(), notices=("torch 2.11.0 was <b>not</b> run again.",))
    parts = render_markdown(noticed).split("\n\n")
    assert parts[1].startswith("As expected:")
    assert parts[2] == "torch 2.11.0 was &#60;b&#62;not&#60;/b&#62; run again."


def test_hostile_text_becomes_no_markup() -> None:
    html = GITHUB.render(render_markdown(hostile()))
    assert set(re.findall(r"<(\w+)", html)) <= {
        *("h1", "h2", "p", "ul", "li", "strong", "code"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "**bold** __under__ ~~gone~~ $math$ :tada: &amp;amp; red" in html.replace(COMMENT, "")
    assert "cut; 1,000," in html


def test_hostile_text_leaves_every_row_its_cells() -> None:
    for line in render_markdown(hostile()).splitlines():
        if line.startswith("|"):
            assert line.count("|") in {3, 6, 10}  # files, cases, environments


@pytest.mark.parametrize(
    "text",
    [
        *("@everyone", "@a/team", "me@evil.example", "#1", "a/b#1", "gh-1", "GH-1"),
        *("http://evil.example", "www.evil.example", "WWW.evil.example", ":tada:", ":+1:"),
    ],
)
def test_what_github_links_by_itself_is_broken_up(text: str) -> None:
    assert text not in escape(f"see {text} here")
    shown = GITHUB.renderInline(escape(f"see {text} here"))
    assert COMMENT in shown or text.lower().startswith("www."), (
        "an entity is a character again when GitHub looks for them"
    )
    assert shown.replace(COMMENT, "") == f"see {text} here"


@pytest.mark.parametrize("text", ["- a", "+ a", "-", "---", "- - -", "1. a", "1) a", "12.", "# a", "> a", "***", "```"])
def test_no_text_begins_a_block(text: str) -> None:
    assert [token.type for token in GITHUB.parse(escape(text))] == ["paragraph_open", "inline", "paragraph_close"]
    assert unescape(GITHUB.renderInline(escape(text))) == text


def test_harmless_names_stay_readable() -> None:
    assert code("sdpa_policy::default_policy") == "`sdpa_policy::default_policy`"
    assert code("torch2.11.0-cp311-linux_x86_64") == "`torch2.11.0-cp311-linux_x86_64`"
    assert code("a`b") == "<code>a&#96;b</code>"


def test_the_same_text_comes_out_that_went_in() -> None:
    shown = "<b>\\ | ` * _ ~ ^ [x](y) & &amp; $ @a #1 :a: !"
    assert GITHUB.renderInline(code(shown)) == "<code>" + shown.replace("&", "&amp;").replace("<", "&lt;").replace(
        ">", "&gt;"
    ) + "</code>"  # fmt: skip


def test_links_of_claims_can_be_followed() -> None:
    assert '<a href="https://example.org/why">' in GITHUB.render(render_markdown(everything()))


def test_trouble_is_named_once_with_its_reason() -> None:
    assert render_markdown(unreachable()).count("The index did not answer within 3 s; check the network.") == 1


def test_nothing_is_hidden_without_a_word() -> None:
    assert "and 100 more; matrix.json has them all" in render_markdown(many(300, 2))
    assert len(HOSTILE) > 1_000_000
    assert len(render_markdown(hostile())) < 10_000


def test_where_all_is_as_expected_nothing_is_called_unexpected() -> None:
    scene = as_expected()
    depends = msgspec.structs.replace(scene.cells[0], process_dependent=True)
    text = render_markdown(msgspec.structs.replace(scene, cells=(depends, *scene.cells[1:])))
    assert "## Process-dependent, as expected" in text
    assert "Unexpected" not in text
