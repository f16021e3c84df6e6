from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recompat.report.markdown import render_markdown, sections
from recompat.step_summary import LARGEST, ROOMY, fitted, write_step_summary
from scenes import as_expected, everything, hostile, many, unreachable

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.summary import Summary


@pytest.fixture(scope="module")
def large() -> Summary:
    """A matrix whose page is larger than what GitHub takes."""
    made = many(1000, 40)
    assert len(render_markdown(made).encode()) > LARGEST
    return made


def headings(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]


@pytest.mark.parametrize("scene", [everything, as_expected, hostile, unreachable])
def test_the_long_markdown_is_appended_to_what_the_file_holds(scene: object, tmp_path: Path) -> None:
    made = scene()  # type: ignore[operator]
    path = tmp_path / "summary.md"
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    write_step_summary(made, environ)
    assert path.read_text("utf-8") == render_markdown(made)
    write_step_summary(made, environ)
    assert path.read_text("utf-8") == f"{render_markdown(made)}\n\n{render_markdown(made)}"


@pytest.mark.parametrize("environ", [{}, {"GITHUB_STEP_SUMMARY": ""}])
def test_elsewhere_nothing_is_written_or_said(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_step_summary(as_expected(), environ)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("held", [0, 1, 400_000, LARGEST - 3_000])
def test_a_large_matrix_keeps_below_what_github_takes_counting_what_is_there(
    large: Summary, held: int, tmp_path: Path
) -> None:
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * held)
    write_step_summary(large, {"GITHUB_STEP_SUMMARY": str(path)})
    text = path.read_bytes()[held:].decode()
    assert held < path.stat().st_size <= LARGEST
    assert "Left out, since GitHub takes no more than 1 MiB from a step: " in text
    assert "Unexpected: 40000 of 40000 cells." in text


def test_sections_are_whole_or_left_out_and_named_the_least_important_first() -> None:
    made = everything()
    whole = dict(sections(made))
    size = len(render_markdown(made).encode())
    order: list[str] = []
    for room in range(size, 0, -100):
        text = fitted(made, room)
        if text is None:
            break
        assert len(text.encode()) <= room
        left = [title for title in whole if title not in headings(text)]
        assert all(f"## {title}\n\n{told}\n\n" in text for title, told in whole.items() if title not in left)
        assert all(title in text.partition("Left out")[2] for title in left)
        order += [title for title in left if title not in order]
    assert [title for title in order if title in ROOMY] == [
        *("Case files", "Environments", "Legend", "Matrix", "Not run"),
    ]
    assert set(order[:5]) == set(ROOMY)
    assert set(order) == set(whole)


def test_what_is_left_out_leaves_the_rest_in_the_order_of_the_page() -> None:
    made = everything()
    titles = [title for title, _ in sections(made)]
    text = fitted(made, len(render_markdown(made).encode()) - 1)
    assert text is not None
    assert headings(text) == titles[:-1] or headings(text) == titles[:-2]


def test_bytes_are_counted_not_characters() -> None:
    text = render_markdown(everything())
    assert len(text) < len(text.encode())
    assert fitted(everything(), len(text.encode())) == text
    assert fitted(everything(), len(text)) != text


def test_a_full_file_is_told_and_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * LARGEST)
    write_step_summary(as_expected(), {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.stat().st_size == LARGEST
    assert "GITHUB_STEP_SUMMARY has no room left for the matrix" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "absent/summary.md"], ids=["a folder", "in no folder"])
def test_a_file_that_cannot_be_written_is_told_in_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_step_summary(as_expected(), {"GITHUB_STEP_SUMMARY": f"{tmp_path}/{name}"})
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("recompat: GITHUB_STEP_SUMMARY names ")
    assert "cannot be written" in told
