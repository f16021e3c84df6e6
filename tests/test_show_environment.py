from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import msgspec
import pytest

from builders import PASSES, differs, passes, raises, record, trouble
from recompat.errors import ConfigurationError
from recompat.report.page import Paper
from recompat.show import Known, read_known, show
from recorded import SOURCE, digest, four_releases, make_project, outcomes, recorded, shown
from scenes import CHECKPOINT, HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return four_releases(tmp_path)


def test_an_environment(project: Project) -> None:
    text = shown(project, "2.10.0")
    assert text.startswith("torch2.10.0-cp311-linux_x86_64\n")
    assert "torch    2.10.0+cpu (cpu build, from the cpu-index)" in text
    assert "Packages (2)\n  numpy 1.26.4, torch 2.10.0\n" in text
    assert "outcomes  CheckpointError 1, DIFFERS 1 (of 2 cases)" in text
    assert "seconds   installing 20.0; 20.0 in all" in text
    assert "Packages" not in shown(project, "2.10.0", paper=Paper(detail=-1))


def test_an_environment_with_trouble(project: Project) -> None:
    text = shown(project, "2.12.0")
    assert "Trouble\n  no-wheel: There is no wheel for cp314.\n" in text
    assert "not recorded: nothing was imported" in text
    assert "outcomes  not run 2 (of 2 cases)" in text


def test_torch_goes_with_a_case(project: Project) -> None:
    with pytest.raises(ConfigurationError, match="leave it out"):
        shown(project, "2.12.0", "2.11.0")


def test_several_environments_of_a_release(tmp_path: Path) -> None:
    other = msgspec.structs.replace(
        recorded("2.11.0", {"plain": PASSES}),
        environment=record("2.11.0", python="cp310").environment,
    )
    project = make_project(tmp_path, recorded("2.11.0", {"plain": CHECKPOINT}), other)
    assert (
        outcomes(shown(project, "patterns::plain")) == "2.11.0 (cp310) pass new! | 2.11.0 (cp311) CheckpointError new!"
    )
    assert shown(project, "2.11.0").count("torch2.11.0-cp31") == 2


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """What is known of a project whose texts are hostile, a megabyte each: writing and reading them takes a while."""
    cold = raises(f"evil.{HOSTILE[:200]}", HOSTILE, frames=(HOSTILE,))
    cold = msgspec.structs.replace(cold, detail=HOSTILE, differences=differs(None, HOSTILE).differences)
    source = SOURCE.replace("two blanks", " ".join(HOSTILE[:300].replace("\0", "").split()))
    project = make_project(
        tmp_path_factory.mktemp("hostile"),
        recorded("2.11.0", {"plain": cold}, digest(source)),
        record("2.12.0", trouble=trouble(reason=HOSTILE)),
        source=source,
    )
    return read_known(project)


@pytest.mark.parametrize("target", ["patterns::plain", "2.11.0", "2.12.0"])
@pytest.mark.parametrize("detail", [-1, 0, 1])
def test_hostile_text_shows_as_text(hostile: Known, target: str, detail: int) -> None:
    torch = "2.11.0" if "::" in target else None
    text = show(hostile, target, torch, Paper(detail=detail))
    assert not {c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}}
    assert len(text) < 30_000


def test_colour_comes_only_when_asked(project: Project) -> None:
    plain, coloured = (shown(project, "plain", "2.11.0", Paper(colour=colour)) for colour in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[1mOutcomes\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize("width", [40, 60, 100])
def test_many_runs_wrap(tmp_path: Path, width: int) -> None:
    records = [recorded(f"2.{n}.0", {"plain": CHECKPOINT if n % 2 else passes()}) for n in range(1, 20)]
    project = make_project(tmp_path, *records)
    lines = shown(project, "plain", paper=Paper(width=width, detail=-1)).splitlines()
    assert max(len(line) for line in lines) <= width
    assert "".join(lines).partition("Boundaries")[0].count("CheckpointError") == 10
