from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import msgspec

from builders import NOW, case_file, differs, record, result, summary
from evidence_builders import watched
from golden import check_golden
from recompat import compare
from recompat.aspects import Aspect
from recompat.bisection import Bisection, Side, Silent, Tried, Turn
from recompat.errors import ExitCode
from recompat.report.bisect import render_bisection_markdown, render_bisection_text
from recompat.report.json import render_json
from recompat.report.page import Paper
from recompat.turns import BESIDE
from scenes import CHECKPOINT, HOSTILE, SAME, SCOPE_ENDED, hostile
from test_schemas import validator

if TYPE_CHECKING:
    from recompat.model import CaseResult

SOURCE = '"""Patterns."""\n\n# ``` and ```` in a comment\n'
OLD = watched(result("patterns::plain"), *SAME)
NEW = watched(result("patterns::plain", CHECKPOINT), *SCOPE_ENDED)
SILENT = (Silent("2.10.0", "n/a: There is no torch.x."), Silent("2.10.1", "It was not installed.", trouble=True))


def turn(last: tuple[str, CaseResult], first: tuple[str, CaseResult], *between: Silent, more: str = "") -> Turn:
    records = [record(torch, one) for torch, one in (last, first)]
    name = last[1].case.partition("::")[2]
    made = summary(*records, file=case_file("patterns", name))
    one, other = (
        Side(
            column=column,
            cell=cell,
            wheel=f"torch-{column.torch}-cp311-cp311-linux_x86_64.whl",
            wheel_sha256="d" * 64,
            commands=(f"cd reproduce/torch{column.torch}{more}", "uv venv .venv", ".venv/bin/python -c 'f()'"),
        )
        for column, cell in zip(made.environments, made.cells, strict=True)
    )
    a, b = (compare.Side(each.environment.torch, (each,), chosen=True) for each in records)
    return Turn(
        old="pass", new="CheckpointError", last=one, first=other, between=between, diff=compare.diff(a, b, BESIDE)
    )


def bisection(*turns: Turn, **more: object) -> Bisection:
    tried = (
        Tried("2.9.1", "pass", recorded=True),
        Tried("2.10.0", None, SILENT[0].reason),
        Tried("2.10.1", None, "It was not installed, " + "and that at length " * 20, installed=True),
        Tried("2.11.0", "CheckpointError", installed=True),
    )
    made = Bisection(
        recompat="0.0.0",
        generated=NOW,
        case="patterns::plain",
        title="Nothing special.",
        file="patterns.py",
        sha256="a" * 64,
        aspect=Aspect.EXCEPTION,
        platform="linux_x86_64",
        start="2.9.1",
        end="2.11.0",
        releases=6,
        tried=tried,
        turns=turns,
        elsewhere=(("2.1.2", "2.2.0"),),
        source=SOURCE,
    )
    return msgspec.structs.replace(made, recompat="0.0.0", **more)


FOUND = bisection(turn(("2.9.1", OLD), ("2.11.0", NEW), *SILENT))


def test_text() -> None:
    check_golden("bisect.txt", render_bisection_text(FOUND, Paper(100)))


def test_markdown() -> None:
    check_golden("bisect.md", render_bisection_markdown(FOUND))


def test_json_is_valid() -> None:
    validator("bisection-1.json").validate(msgspec.json.decode(render_json(FOUND)))


def test_the_essence_alone() -> None:
    text = render_bisection_text(FOUND, Paper(400, detail=-1))
    assert text.startswith(
        "patterns::plain changes between 2.9.1 and 2.11.0\nNothing special.\n"
        "pass until 2.9.1, CheckpointError from 2.11.0; 2.10.0 and 2.10.1 between say nothing.\n"
    )
    assert len(text.splitlines()) == 4


def test_several_changes_newest_first() -> None:
    one = turn(("2.12.0", NEW), ("2.13.0", result("patterns::plain", differs(0.5))))
    text = render_bisection_text(bisection(one, FOUND.turns[0]), Paper(100))
    assert text.startswith("patterns::plain changes 2 times between 2.9.1 and 2.11.0\n")
    assert text.index("2.12.0 → 2.13.0") < text.index("2.9.1 → 2.11.0")
    assert "2.13.0: DIFFERS. q.grad not equal\n" in text
    assert "exact, no release lies between" in text


def test_how_it_ended_is_in_the_exit_code() -> None:
    assert FOUND.exit_code is ExitCode.INCOMPLETE
    assert bisection(turn(("2.9.1", OLD), ("2.11.0", NEW), SILENT[0])).exit_code is ExitCode.OK
    assert FOUND.installed == 2


def test_two_builds_are_told_apart() -> None:
    one = FOUND.turns[0]
    cuda = msgspec.structs.replace(one.first, column=msgspec.structs.replace(one.first.column, flavour="cu130"))
    told = "They are other builds, cpu and cu130: that may be what changed."
    assert told in render_bisection_text(bisection(msgspec.structs.replace(one, first=cuda)), Paper(100))
    assert told not in render_bisection_text(FOUND, Paper(100))


def test_the_source_stays_in_its_fence() -> None:
    text = render_bisection_markdown(FOUND)
    assert f"`````python\n{SOURCE.rstrip()}\n`````" in text
    assert "<details>" not in render_bisection_markdown(bisection(*FOUND.turns, source=None))


def test_nothing_of_a_record_acts() -> None:
    cells = {cell.environment: cell for cell in hostile().cells}
    evil = next(cell for cell in cells.values() if cell.exception)
    one = turn(("2.9.1", OLD), ("2.11.0", NEW), Silent(HOSTILE, HOSTILE, trouble=True), more=HOSTILE)
    side = msgspec.structs.replace(one.first, cell=evil, wheel=HOSTILE)
    made = bisection(
        msgspec.structs.replace(one, old=HOSTILE, first=side),
        case=HOSTILE,
        title=HOSTILE,
        tried=(Tried(HOSTILE, HOSTILE), Tried(HOSTILE, None, HOSTILE)),
        elsewhere=((HOSTILE, HOSTILE),),
    )
    text, markdown = render_bisection_text(made, Paper(100)), render_bisection_markdown(made)
    for drawn in (text, markdown):
        assert len(drawn) < 60_000
        assert not set(drawn) & set("\x00\x07\x1b\x9b\u202e\u2069\u200b")
    outside = re.sub(r"(?ms)^(`{3,})\w+\n.*?\n\1$", "", markdown)
    assert "<script" not in outside
    assert "](" not in outside
    assert "**bold**" not in html.unescape(re.sub(r"<code>.*?</code>", "", outside))
