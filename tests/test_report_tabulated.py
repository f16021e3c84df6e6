from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from docutils import core, nodes

from builders import case_file, record, result, summary
from golden import check_golden
from recompat.report import latex, rst
from recompat.report.latex import render_latex
from recompat.report.rst import render_rst
from recompat.report.terminal import render_terminal, render_text
from recompat.report.text import clean
from scenes import HOSTILE, as_expected, everything, hostile, many, unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from recompat.summary import Summary

PLAIN = {
    *("document", "section", "title", "paragraph", "bullet_list", "list_item", "Text"),
    *("table", "tgroup", "colspec", "thead", "tbody", "row", "entry"),
}
SCENES = pytest.mark.parametrize(
    "scene",
    [everything, as_expected, hostile, unreachable, lambda: many(300, 40)],
    ids=["everything", "as_expected", "hostile", "unreachable", "many"],
)
TRICKS = [
    *(
        "*emphasis*",
        "**strong**",
        "`role`",
        ":func:`name`",
        "``literal``",
        "name_",
        "name__",
        "_`target`",
        "|sub|",
        "[1]_",
    ),
    *(
        "text::",
        ".. image:: x.png",
        ".. _a: b",
        "- item",
        "* item",
        "+ item",
        "\u2022 item",
        "1. one",
        "a) b",
        "(i) x",
        "#. x",
    ),
    *(
        ":field: x",
        "--option x",
        "-a x",
        "/V x",
        ">>> 1",
        "| line",
        "====",
        "----",
        "....",
        "+---+",
        "== ==",
        "__ x",
        "\u2014 x",
    ),
    *(
        "http://evil.example",
        "https://x",
        "mailto:a@b.example",
        "a@b.example",
        "back\\slash",
        "\\",
        "a\\ b",
        "x\\_",
        "<t>`_",
    ),
    *(
        "\\" * 9,
        "\u0301 first",
        "\u4e2d\u6587 wide",
        "e\u0301 combined",
        "A.",
        "iv. x",
        "a: b",
        "a::b",
        '"quoted"',
        "it's",
        "\u201ccurly\u201d",
    ),
]


def read(text: str) -> nodes.document:
    """What docutils makes of it; whatever it remarks upon fails."""
    heard = io.StringIO()
    settings = {"report_level": 1, "halt_level": 5, "warning_stream": heard, "_disable_config": True}
    made = core.publish_doctree(text, settings_overrides=settings)
    assert heard.getvalue() == ""
    return made


def kinds(made: nodes.document) -> set[str]:
    return {type(node).__name__ for node in made.findall()}


def odd(name: str) -> Summary:
    """A case of that name, on two releases."""
    records = [record(torch, result(f"patterns::{name}"), result("patterns::a")) for torch in ("2.9.1", "2.11.0")]
    return summary(*records, file=case_file("patterns", name, "a"))


def test_text_is_what_a_terminal_shows_without_colours() -> None:
    assert render_text(everything()) == render_terminal(everything(), width=160)
    assert "\x1b" not in render_text(hostile())


def test_rst_of_everything() -> None:
    check_golden("everything.rst", render_rst(everything()))


@SCENES
def test_rst_is_read_without_a_remark_and_nothing_acts_as_markup(scene: Callable[[], Summary]) -> None:
    assert kinds(read(render_rst(scene()))) <= PLAIN


@pytest.mark.parametrize("text", TRICKS)
def test_rst_says_what_it_was_given(text: str) -> None:
    for around in ("{}", "x {}", "{} x", "x {} x"):
        written = around.format(text)
        made = read(f"{rst.escape(written)}\n\n- {rst.escape(written)}\n")
        assert kinds(made) <= PLAIN
        assert [node.astext() for node in made.findall(nodes.paragraph)] == [clean(written)] * 2


@pytest.mark.parametrize("text", TRICKS)
def test_rst_tables_hold_any_text(text: str) -> None:
    made = read(render_rst(odd(text)))
    assert kinds(made) <= PLAIN
    entries = [node.astext() for node in made.findall(nodes.entry)]
    assert entries == [
        "case",
        "2.9.1",
        "2.11.0",
        clean(f"patterns::{text}"),
        *["pass new!"] * 2,
        "patterns::a",
        *["pass new!"] * 2,
    ]


def test_rst_columns_are_as_wide_as_docutils_measures_them() -> None:
    text = rst._table(["\u4e2d", "b"], [["\u4e2d\u6587e\u0301", "x"], ["a", "\u2020"]])
    assert text.splitlines() == [
        "=====  ===",
        "\u4e2d     b",
        "=====  ===",
        "\u4e2d\u6587e\u0301  x",
        "a      \u2020",
        "=====  ===",
    ]


def test_latex_of_everything() -> None:
    check_golden("everything.tex", render_latex(everything()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("100 % & $x$ #1 a_b a^b ~", r"100 \% \& \$x\$ \#1 a\_b a\textasciicircum{}b \textasciitilde{}"),
        ("[x] *", "{[}x{]} {*}"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
        ("--- a-b", "-{}-{}- a-b"),
        ("``x''", r"\textasciigrave{}\textasciigrave{}x\textquotesingle{}\textquotesingle{}"),
        ('"x"', r"\char34{}x\char34{}"),
        ("RuntimeError° †", r"RuntimeError\textdegree{} \textdagger{}"),
        ("≈ ≠ …", r"\ensuremath{\approx} \ensuremath{\neq} \ldots{}"),
        ("中é", "{[}U+4E2D{]}{[}U+00E9{]}"),
        ("a\x00\x1b[31m\u202eb", "ab"),
    ],
)
def test_latex_says_what_it_was_given(text: str, written: str) -> None:
    assert latex.escape(text) == written


@SCENES
def test_latex_has_no_commands_but_ours_and_all_groups_are_closed(scene: Callable[[], Summary]) -> None:
    text = render_latex(scene())
    assert text.isascii()
    assert text.isprintable() or set(text) - set(map(chr, range(32, 127))) == {"\n"}
    body = text.partition("\n")[2]
    assert "%" not in body.replace(r"\%", "")
    assert "$" not in body.replace(r"\$", "")
    assert set(re.findall(r"\\([a-z]+)", body)) <= {
        *("section", "subsection", "begin", "end", "item", "toprule", "midrule", "bottomrule", "endhead"),
        *("scriptsize", "setlength", "tabcolsep", "char", "ensuremath", "approx", "neq", "leq", "geq", "ldots"),
        *("textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar"),
        *("textasciigrave", "textquotesingle", "textdagger", "textdegree"),
    }
    unescaped = re.sub(r"\\[{}]", "", body)
    assert unescaped.count("{") == unescaped.count("}")
    assert body.count(r"\begin{") == body.count(r"\end{")


def test_latex_tables_have_all_releases_in_blocks_that_fit() -> None:
    text = render_latex(many(3, 40))
    heads = re.findall(r"\\toprule\n(.*) \\\\", text)
    releases = [name.strip() for head in heads for name in head.split("&")[1:]]
    assert releases == [f"2.{minor}.0" for minor in range(40)]
    assert max(len(head) for head in heads) <= latex.LINE + 10
    assert min(head.count("&") for head in heads[:-1]) >= 2


def test_latex_rows_have_as_many_cells_as_their_table_has_columns() -> None:
    for table in re.findall(r"\\begin\{longtable\}.*?\\end\{longtable\}", render_latex(odd("a & b \\\\ c")), re.DOTALL):
        columns = re.search(r"@\{\}(l+)@\{\}", table)
        assert columns is not None
        rows = [line for line in table.splitlines() if line.endswith(r" \\")]
        assert {re.sub(r"\\.", "", row[:-2]).count("&") for row in rows} == {len(columns[1]) - 1}


@pytest.mark.parametrize("render", [render_text, render_rst, render_latex])
def test_nothing_is_hidden_without_a_word(render: Callable[[Summary], str]) -> None:
    assert "more; matrix.json has them all" in render(many(300, 2))
    assert len(HOSTILE) > 1_000_000
    assert len(render(hostile())) < 15_000


@pytest.mark.parametrize("render", [render_text, render_rst, render_latex])
def test_a_summary_of_nothing_is_drawn(render: Callable[[Summary], str]) -> None:
    assert render(summary(record("2.9.1"), file=case_file("patterns")))
