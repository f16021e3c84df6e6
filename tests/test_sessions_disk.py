"""Disks that are full, and folders that cannot be written: one sentence, the right exit code, no half-written file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.disks import fill, read_only, small_disk
from support.project import nox
from support.sessions import GREEN, leftovers, record_of, said
from support.wheels import build_package, build_torch

if TYPE_CHECKING:
    import subprocess

    from support.project import Project


def check_sentence(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 6, done.stdout + done.stderr
    (only,) = [sentence for sentence in said(done.stdout + done.stderr) if "NOTE" not in sentence]
    assert all(part in only for part in parts), only
    assert "Traceback" not in done.stdout + done.stderr


def check_whole(project: Project) -> None:
    """Whatever is there is whole."""
    assert leftovers(project) == []
    for path in project.reports.rglob("*.json"):
        json.loads(path.read_bytes())


def test_no_room_for_a_record(project: Project) -> None:
    with small_disk(project.reports):
        (project.reports / "logs").mkdir()
        filler = fill(
            project.reports, leave=8192
        )  # for the index's list and the log of uv alone: each file takes a page
        done = nox(project, "-s", "matrix")
        check_sentence(done, "The disk is full: ", " was not written; free some space and run it again.")
        assert "trying" in done.stdout
        assert project.records() == {}
        assert not (project.reports / "matrix.json").exists()
        check_whole(project)
        filler.unlink()
        mended = nox(project, "-s", "matrix")
        assert mended.returncode == 0, mended.stdout + mended.stderr
        assert project.cells() == GREEN


def test_no_room_for_the_reports(finished: Project) -> None:
    kept = {path: path.read_bytes() for path in finished.reports.rglob("*") if path.is_file()}
    with small_disk(finished.reports):
        for path, content in kept.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        filler = fill(finished.reports)
        finished.expectations.write_text("", "utf-8")  # so that the reports would be others
        for arguments in (["-s", "matrix"], ["-s", "report"]):
            check_sentence(nox(finished, *arguments), "The disk is full: ", "reports/site was not written; free some")
            assert {path: path.read_bytes() for path in kept} == kept
            assert leftovers(finished) == []
        filler.unlink()
        assert nox(finished, "-s", "matrix").returncode == 1
        assert set(finished.cells("verdict").values()) == {"new"}


@pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["one", "two"])
def test_no_room_for_an_environment(project: Project, jobs: tuple[str, ...]) -> None:
    environments = project.root / ".nox"
    with small_disk(environments):
        filler = fill(environments)
        done = nox(project, *jobs, "-s", "matrix")
        check_sentence(done, f"The disk is full: {environments} was not written; free some space and run it again.")
        assert project.records() == {}
        assert project.index.requests == []

        filler.unlink()  # an empty environment fits, and torch does not
        build_package(project.index.folder, "bulk", "1.0", modules={"bulk": f"X = {'x' * 3_000_000!r}"})
        for release in ("9.0.0", "9.1.0"):
            build_torch(project.index.folder, release, requires=["bulk"])
        done = nox(project, *jobs, "-s", "matrix")
        assert done.returncode == 6, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        for release in ("9.0.0", "9.1.0"):
            trouble = record_of(project, release)["trouble"]
            assert trouble["kind"] == "disk-full", trouble
            assert trouble["reason"].startswith(
                f"The disk is full: torch {release} was not installed; free some space ("
            )
        assert set(project.cells().values()) == {"not-run"}
        check_whole(project)


@pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["one", "two"])
def test_folders_that_cannot_be_written(finished: Project, jobs: tuple[str, ...]) -> None:
    kept = {path: path.read_bytes() for path in finished.reports.rglob("*") if path.is_file()}
    with read_only(finished.root / ".nox"):
        done = nox(finished, *jobs, "-s", "matrix", "--", "--rerun", "all")
        check_sentence(done, f"{finished.root / '.nox'} cannot be written (", "; make it writable and run it again.")
    with read_only(finished.reports):
        done = nox(finished, *jobs, "-s", "matrix", "--", "--torch", "9.0.0")
        check_sentence(done, f"{finished.reports}", " cannot be written (", "; make it writable and run it again.")
        assert leftovers(finished) == []
        report = nox(finished, "-s", "report", "--", "--torch", "9.0.0")
        check_sentence(report, f"{finished.reports}", " cannot be written (", "; make it writable and run it again.")
    assert {path: path.read_bytes() for path in kept} == kept
