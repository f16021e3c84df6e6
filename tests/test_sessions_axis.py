"""A package beside torch as an axis: whole runs on two releases of the stand-in torch with two versions of a small library."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.project import CHECKPOINT_ERROR, ROOT, add_case, nox
from support.sessions import leftovers, said
from support.wheels import build_package

if TYPE_CHECKING:
    from support.index import Index
    from support.project import Project

AXIS = '[[axis]]\nname = "library"\nversions = ["1.0", "2.0"]\n'
CASE = "depends::of_library"
TARGETS = ["9.0.0 1.0", "9.0.0 2.0", "9.1.0 1.0", "9.1.0 2.0"]


@pytest.fixture
def axis(project: Project, index: Index) -> Project:
    """A project of one case, which raises on 9.1.0 with version 2.0 of the library alone, as it claims."""
    for version in ("1.0", "2.0"):
        build_package(index.folder, "library", version)
    project.write_matrix(more=AXIS)
    for path in project.cases.iterdir():
        path.unlink()
    add_case(project.cases, "depends")
    project.expectations.write_text("")
    claim(project, ">=9", "pass", "<2")
    claim(project, "<9.1", "pass", ">=2")
    claim(project, ">=9.1", "raises", ">=2")
    return project


def claim(project: Project, torch: str, outcome: str, library: str) -> None:
    """Add a claim for some versions of the library."""
    lines = [f'torch = "{torch}"', f'outcome = "{outcome}"', f'beside = {{ library = "{library}" }}']
    lines += [f'exception = "{CHECKPOINT_ERROR}"'] if outcome == "raises" else []
    with project.expectations.open("a", encoding="utf-8") as file:
        file.write("\n".join(["[[depends.of_library]]", *lines, 'reason = "The library is built so."', "\n"]))


def outcomes(project: Project) -> dict[str, str]:
    """How the case ended, by release and version of the library."""
    matrix = project.matrix_json()
    columns = {one["id"]: f"{one['torch']} {one['beside']['library']}" for one in matrix["environments"]}
    return {columns[cell["environment"]]: cell["outcome"] for cell in matrix["cells"]}


def required(text: str) -> list[str]:
    return re.findall(r"Running session probe\(torch='(.*)'\)", text)


def test_each_release_is_run_with_each_version_and_changes_are_told_track_by_track(axis: Project) -> None:
    done = nox(axis, "-s", "matrix", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert required(done.stderr) == [one.replace(" ", "', library='") for one in TARGETS]
    assert outcomes(axis) == dict(zip(TARGETS, ["pass", "pass", "pass", "raises"], strict=True))
    assert sorted(axis.records()) == sorted(_id(axis, *one.split()) for one in TARGETS)
    assert {
        record["environment"]["beside"]["library"]: record["facts"]["packages"]["library"]
        for record in axis.records().values()
    } == {"1.0": "1.0", "2.0": "2.0"}
    (boundary,) = axis.matrix_json()["boundaries"]
    assert (boundary["beside"], boundary["last"], boundary["first"]) == ({"library": "2.0"}, "9.0.0", "9.1.0")
    assert [line for line in done.stdout.splitlines() if line.startswith("library")] == ["library 1.0:", "library 2.0:"]
    assert "Where versions of library disagree" in done.stdout
    assert "pass on library 1.0; CheckpointError on library 2.0" in done.stdout
    assert leftovers(axis) == []

    axis.index.close()  # what follows needs no network
    again = nox(axis, "-s", "matrix")
    assert (again.returncode, required(again.stderr), said(again.stderr)) == (0, [], [])
    one = nox(axis, "-s", "matrix", "--", "--axis", "library<2", "--torch", "9.1.0")
    assert one.returncode == 0, one.stdout + one.stderr
    assert outcomes(axis) == {"9.1.0 1.0": "pass"}
    report = nox(axis, "-s", "report", "--", "--axis", "library==2.0")
    assert report.returncode == 0, report.stdout + report.stderr
    assert outcomes(axis) == {"9.0.0 2.0": "pass", "9.1.0 2.0": "raises"}


def _id(project: Project, torch: str, library: str) -> str:
    (record,) = [
        one
        for one in project.records().values()
        if (one["environment"]["torch"], one["environment"]["beside"]["library"]) == (torch, library)
    ]
    place = record["environment"]
    return f"torch{torch}-library{library}-{place['python']}-{place['platform']}"


def test_in_parallel_it_is_the_same(axis: Project) -> None:
    done = nox(axis, "-s", "matrix", "-j", "2", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(axis) == dict(zip(TARGETS, ["pass", "pass", "pass", "raises"], strict=True))
    assert leftovers(axis) == []


def test_a_session_of_its_own_for_each(axis: Project) -> None:
    listed = nox(axis, "--list")
    found = re.findall(r"probe\((.*)\)", listed.stdout)
    assert found == [f"torch='{one.replace(' ', chr(39) + ', library=' + chr(39))}'" for one in TARGETS]
    done = nox(axis, "-s", "probe(torch='9.1.0', library='2.0')")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [record["environment"]["beside"] for record in axis.records().values()] == [{"library": "2.0"}]
    rest = nox(axis, "-s", "matrix", "--", "--torch", "9.1.0", timeout=120)
    assert (rest.returncode, required(rest.stderr)) == (0, ["9.1.0', library='1.0"])


def test_what_cannot_be_resolved_is_not_run_there_alone(axis: Project) -> None:
    build_package(axis.index.folder, "library", "3.0", requires=["torch>=9.1"])
    axis.write_matrix(more=AXIS.replace('"2.0"', '"3.0"'))
    axis.expectations.write_text("")
    claim(axis, ">=9", "pass", "<2")
    claim(axis, ">=9.1", "raises", ">=2")
    done = nox(axis, "-s", "matrix", timeout=120)
    assert done.returncode == 6, done.stdout + done.stderr
    assert outcomes(axis)["9.0.0 3.0"] == "not-run"
    assert list(outcomes(axis).values()).count("not-run") == 1
    (trouble,) = [one["trouble"] for one in axis.records().values() if one["trouble"]]
    assert trouble["kind"] == "install-failed"
    assert "library==3.0" in trouble["reason"]


def test_a_selector_that_matches_nothing_says_what_there_is(axis: Project) -> None:
    for words, status, sentence in (
        (["library>=7"], 5, "No version matches --axis library>=7. There are: 1.0, 2.0."),
        (["other"], 4, "--axis other names no axis; there is library."),
        (["library=="], 4, "library== is no package with its versions, such as transformers>=4.50"),
    ):
        done = nox(axis, "-s", "matrix", "--", *[word for value in words for word in ("--axis", value)])
        assert (done.returncode, sentence in done.stderr) == (status, True), done.stderr


def test_a_watch_compares_what_stands_beside_the_same_packages(axis: Project) -> None:
    axis.write_matrix(["9.0.0"], known=["9.1.0"], more=AXIS)
    assert nox(axis, "-s", "matrix", timeout=120).returncode == 0
    done = nox(axis, "-s", "watch", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    changes = json.loads((axis.reports / "changes.json").read_bytes())
    assert [
        (one["torch"], one["beside"], one["before"], [change["kind"] for change in one["changes"]])
        for one in changes["releases"]
    ] == [("9.1.0", {"library": "1.0"}, "9.0.0", []), ("9.1.0", {"library": "2.0"}, "9.0.0", ["regressed"])]
    assert changes["releases"][1]["changes"][0]["state"] == "verified"
    assert "--torch 9.1.0 --axis library==2.0 --run" in " ".join(done.stdout.split())


def recompat(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "recompat", *arguments],
        cwd=project.root,
        env={**project.env, "PYTHONPATH": str(ROOT / "src")},
        check=False,
        text=True,
        capture_output=True,
        timeout=120,
    )


def test_a_bisection_and_a_reproduction_have_the_same_beside_torch(axis: Project) -> None:
    ends = ("--from", "9.0.0", "--to", "9.1.0", "--axis", "library==2.0")
    bisected = recompat(axis, "bisect", CASE, *ends)
    assert bisected.returncode == 0, bisected.stdout + bisected.stderr
    said_ = " ".join(bisected.stdout.split())
    assert "pass until 9.0.0, CheckpointError from 9.1.0" in said_
    assert "with library 2.0: 2 installed" in said_
    assert f"recompat reproduce {CASE} --torch 9.1.0 --axis library==2.0" in said_
    assert {record["environment"]["beside"]["library"] for record in axis.records().values()} == {"2.0"}

    again = recompat(axis, "reproduce", CASE, "--torch", "9.1.0", "--axis", "library>=2", "--run")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "library==2.0" in again.stdout
    assert "Reproduced: the outcome is the recorded one" in again.stdout
