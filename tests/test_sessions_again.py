"""What stands of an earlier run, and what has to be run again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from support.project import add_case, nox
from support.sessions import GREEN, environments, leftovers, record_of, said, trials

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from support.project import Project

RELEASES = ("9.0.0", "9.1.0")


def edit(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + "# edited\n", "utf-8")


def tried(done: subprocess.CompletedProcess[str]) -> list[tuple[str, int]]:
    """Which releases were tried, and how many cases on each."""
    found = re.findall(r"^torch (\S+)  trying (\d+) cases? in 3 replays$", done.stdout, re.MULTILINE)
    return [(release, int(count)) for release, count in found]


def result(project: Project, release: str, case: str) -> Any:
    (found,) = [one for one in record_of(project, release)["results"] if one["case"] == case]
    return found


def test_only_the_cases_of_an_edited_file_are_run_again(finished: Project) -> None:
    before = {(release, case): result(finished, release, case) for case, release in GREEN}
    edit(finished.cases / "passes.py")
    stale = nox(finished, "-s", "report")
    assert stale.returncode == 6
    assert "passes.py has changed since this was recorded; run it again." in " ".join(stale.stdout.split())

    done = nox(finished, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert tried(done) == [("9.0.0", 1), ("9.1.0", 1)]
    assert finished.cells() == GREEN
    for release in RELEASES:
        untouched = "regresses::regresses"
        assert result(finished, release, untouched) == before[release, untouched]
        again = result(finished, release, "passes::square")
        assert again["sha256"] != before[release, "passes::square"]["sha256"]
        assert set(again["trials"]) == {"cold", "warm", "warm-copied"}
    assert leftovers(finished) == []


def test_case_files_come_and_go(finished: Project) -> None:
    before = result(finished, "9.0.0", "regresses::regresses")
    add_case(finished.cases, "warns")
    (finished.cases / "passes.py").unlink()
    claimed = nox(finished, "-s", "matrix")
    assert claimed.returncode == 4
    assert "[[passes.square]] names no case" in claimed.stderr

    claims = finished.expectations.read_text("utf-8").replace("passes.square", "warns.warns")
    finished.expectations.write_text(claims, "utf-8")
    done = nox(finished, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {case for case, _ in finished.cells()} == {"regresses::regresses", "warns::warns"}
    assert set(trials(finished, "9.0.0")) == {"regresses::regresses", "warns::warns"}
    assert result(finished, "9.0.0", "regresses::regresses") == before
    (warning,) = trials(finished, "9.0.0")["warns::warns"]["cold"]["warnings"]
    assert warning["text"] == "a new one"


def test_all_or_some_again_on_request(finished: Project) -> None:
    before = result(finished, "9.0.0", "regresses::regresses")
    some = nox(finished, "-s", "matrix", "--", "--rerun", "all", "-k", "square", "--torch", "9.0.0")
    assert some.returncode == 0, some.stdout + some.stderr
    assert tried(some) == [("9.0.0", 1)]
    assert finished.cells() == {("passes::square", "9.0.0"): "pass"}
    assert result(finished, "9.0.0", "regresses::regresses") == before

    done = nox(finished, "-s", "matrix", "--", "--rerun", "all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert tried(done) == [("9.0.0", 2), ("9.1.0", 2)]
    assert finished.cells() == GREEN
    assert leftovers(finished) == []


def test_some_again_by_what_became_of_them(finished: Project) -> None:
    def rerun(what: str, *more: str) -> list[tuple[str, int]]:
        done = nox(finished, "-s", "matrix", "--", "--rerun", what, *more)
        assert "Traceback" not in done.stderr, done.stderr
        return tried(done)

    assert rerun("failed") == []
    finished.expectations.write_text(finished.expectations.read_text("utf-8").replace(">=9.1", ">=9.2"), "utf-8")
    finished.write_matrix(known=["9.2.0"])  # of which a claim may speak
    assert rerun("changed") == rerun("flaky") == rerun("missing") == []
    assert rerun("failed") == [("9.1.0", 1)], "nothing is claimed of it any more"

    add_case(finished.cases, "warns")
    edit(finished.cases / "passes.py")
    assert rerun("stale") == [("9.0.0", 1), ("9.1.0", 1)]
    assert set(trials(finished, "9.0.0")) == {"passes::square", "regresses::regresses"}
    assert rerun("missing", "--torch", "9.0.0") == [("9.0.0", 1)]
    alone = nox(finished, "-s", "probe(torch='9.2.0')", "--", "--rerun", "stale", "--torch", "9.2.0")
    assert (alone.returncode, leftovers(finished)) == (0, [])
    assert "torch 9.2.0  not run: not-tried" in alone.stdout


def test_another_limit_runs_everything_again(finished: Project) -> None:
    finished.write_matrix(timeout=30)
    done = nox(finished, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert tried(done) == [("9.0.0", 2), ("9.1.0", 2)]
    assert {record_of(finished, release)["run"]["options"]["timeout"] for release in RELEASES} == {"30"}
    assert tried(nox(finished, "-s", "matrix")) == []


def test_a_kept_environment_is_used_again(project: Project) -> None:
    first = nox(project, "-s", "matrix", "--", "--torch", "9.0.0", "--keep")
    assert first.returncode == 0, first.stdout + first.stderr
    assert environments(project) == ["probe-torch-9-0-0"]

    edit(project.cases / "passes.py")
    asked = list(project.index.downloads)
    second = nox(project, "-s", "matrix", "--", "--torch", "9.0.0", "--keep")
    assert second.returncode == 0, second.stdout + second.stderr
    assert "environment kept from an earlier run" in second.stdout
    assert "installing" not in second.stdout
    assert tried(second) == [("9.0.0", 1)]
    assert project.index.downloads == asked
    assert environments(project) == ["probe-torch-9-0-0"]

    edit(project.cases / "passes.py")
    third = nox(project, "-s", "matrix", "--", "--torch", "9.0.0")
    assert third.returncode == 0, third.stdout + third.stderr
    assert project.index.downloads == asked
    assert leftovers(project) == []


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def edited(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"outcome":"pass"', b'"outcome":"crash"', 1))


def newer(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"recompat/record/1", b"recompat/record/2"))


def of_another(path: Path) -> None:
    (other,) = {*path.parent.glob("*.json")} - {path}
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize(
    ("damage", "reason", "other_damage", "other_reason"),
    [
        (truncated, "is no valid record (Input data was truncated)", edited, "it was changed after it was written"),
        (newer, "its schema is recompat/record/2, and this recompat reads recompat/record/1", of_another, "it is the "),
    ],
)
def test_a_damaged_record_is_named_and_run_again(
    finished: Project,
    damage: Callable[[Path], None],
    reason: str,
    other_damage: Callable[[Path], None],
    other_reason: str,
) -> None:
    one, other = sorted((finished.reports / "records").glob("*.json"))
    other_damage(other)
    damage(one)
    bad = one.read_bytes(), other.read_bytes()
    done = nox(finished, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = [sentence for sentence in said(done.stderr) if "NOTE" not in sentence]
    assert first.startswith(f"{one.name} ")
    assert reason in first
    assert first.endswith(f"it was renamed to {one.name}.bad1.")
    assert second.startswith(f"{other.name} ")
    assert other_reason in second
    aside = one.with_suffix(".json.bad1").read_bytes(), other.with_suffix(".json.bad1").read_bytes()
    assert aside == bad
    assert tried(done) == [("9.0.0", 2), ("9.1.0", 2)]
    assert finished.cells() == GREEN
    assert json.loads(one.read_bytes())["schema"] == "recompat/record/1"
    assert said(nox(finished, "-s", "matrix").stderr) == []
