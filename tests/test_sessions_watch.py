"""A new release: noticed, tried, judged, told."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from support.index import Fault, Index
from support.project import add_case, interrupt, nox, start
from support.sessions import leftovers, said, stopped_writing, wait_for
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

CASES = ("evolves::aborts", "evolves::copies", "evolves::needs_contexts", "evolves::wavers", "passes::square")


def build_new(project: Project, release: str = "9.1.0") -> None:
    """Regress one case, rename an operator, drop an API, and abort in another case."""
    build_torch(
        project.index.folder,
        release,
        checkpoints={"regresses": Behaviour.RAISES, "aborts": Behaviour.ABORTS},
        renamed={"clone": "clone_v2"},
        absent=["noop_context_fn"],
    )


@pytest.fixture
def known(project: Project) -> Project:
    """9.0.0 is recorded, all as expected; there is nothing else on the index yet."""
    (project.index.folder / "torch-9.1.0-py3-none-any.whl").unlink()
    add_case(project.cases, "evolves")
    project.write_matrix(["9.0.0"])
    project.expectations.write_text("")
    for case in (*CASES, "regresses::regresses"):
        project.expect(case, ">=9", "pass")
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def watch(project: Project, *options: str) -> subprocess.CompletedProcess[str]:
    done = nox(project, "-s", "watch", "--", *options, env={"COLUMNS": "250"})
    assert "Traceback" not in done.stderr, done.stderr
    return done


def changes(project: Project) -> Any:
    return json.loads((project.reports / "changes.json").read_bytes())


def told(project: Project, release: str) -> list[tuple[str, str, str]]:
    """What changed in a release, as case, kind and state."""
    (found,) = [one for one in changes(project)["releases"] if one["torch"] == release]
    return [(change["case"], change["kind"], change["state"]) for change in found["changes"]]


def tried(done: subprocess.CompletedProcess[str]) -> list[tuple[str, int]]:
    found = re.findall(r"^torch (\S+(?: again)?)  trying (\d+) cases? in 3 replays$", done.stdout, re.MULTILINE)
    return [(release, int(count)) for release, count in found]


FOUR = [
    ("evolves::aborts", "regressed", "verified"),
    ("regresses::regresses", "regressed", "verified"),
    ("evolves::needs_contexts", "api-disappears", "verified"),
    ("evolves::copies", "operators", "verified"),
]


def accept(project: Project) -> None:
    """Claim what was seen, as a user does."""
    command = [sys.executable, "-m", "recompat", "accept", "--even-errors", "--reason", "9.1 does so."]
    env = {**project.env, "PYTHONPATH": str(project.root / "src")}
    done = subprocess.run(command, cwd=project.root, env=env, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_story_of_a_release(known: Project, tmp_path: Path) -> None:
    quiet = watch(known)
    assert quiet.returncode == 0, quiet.stdout + quiet.stderr
    assert quiet.stdout.startswith(
        "Nothing is new: the newest release on the index is 9.0.0, the newest recorded one 9.0.0.\n"
    )
    assert changes(known)["releases"] == []

    build_new(known)
    done = watch(known)
    assert done.returncode == 1, done.stdout + done.stderr
    assert tried(done) == [("9.1.0", 6), ("9.1.0 again", 4)]
    assert told(known, "9.1.0") == FOUR
    for case, what in {
        "regressed, verified: evolves::aborts": "pass until 9.0.0, crash from 9.1.0; exact, no release lies between",
        "API gone, verified: evolves::needs_contexts": "an API that is needed is there until 9.0.0 (pass) and absent from 9.1.0;",
        "operators, verified: evolves::copies": "9.0.0 to 9.1.0, forward: - aten.clone; + aten.clone_v2",
    }.items():
        assert f"  {case}\n      {what}" in done.stdout
    assert "The other 2 of 6 cases are as on 9.0.0." in done.stdout
    assert done.stdout.endswith("Fails (--fail-on unexpected), not as expected: 3 cases on torch 9.1.0.\n")
    assert known.cells("verified")["evolves::aborts", "9.1.0"] is True
    assert {release for _, release in known.cells()} == {"9.0.0", "9.1.0"}
    assert [path.name for path in (known.reports / "logs").glob("*-verification")] == [
        f"{name}-verification" for name in known.records() if "9.1.0" in name
    ]
    assert leftovers(known) == []

    unreviewed = watch(known)
    assert (unreviewed.returncode, tried(unreviewed)) == (0, [])
    assert "On torch 9.1.0 3 cases are not as expected; recompat report shows them." in unreviewed.stdout
    accept(known)
    build_torch(known.index.folder, "9.2.0")
    known.index.yanked["torch-9.2.0-py3-none-any.whl"] = "broken"
    accepted = watch(known)
    assert (accepted.returncode, tried(accepted)) == (0, [])
    assert "Nothing is new: the newest release on the index is 9.1.0, the newest recorded one 9.1.0." in accepted.stdout
    assert "not as expected" not in accepted.stdout

    build_torch(tmp_path / "candidates", "9.3.0rc1", checkpoints={"wavers": Behaviour.DOES_NOT_REPEAT})
    with Index(tmp_path / "candidates") as candidates:
        assert tried(watch(known)) == []
        pre = watch(known, "--torch", "pre", "--index-url", candidates.url)
        assert tried(pre) == [("9.3.0rc1", 6), ("9.3.0rc1 again", 5)]
        again = watch(known, "--torch", "new,pre", "--index-url", candidates.url)
        assert (again.returncode, tried(again)) == (0, []), "it is not new any more"
    assert pre.returncode == 1
    assert "  flaky: evolves::wavers\n      cold CheckpointError, warm CheckpointError" in pre.stdout
    assert "from scratch cold pass, warm pass" in pre.stdout
    assert known.cells("verdict")["evolves::wavers", "9.3.0rc1"] == "flaky"


def test_what_a_watch_fails_for(known: Project) -> None:
    """The release stands after the first; what it amounts to is asked for by name."""
    build_new(known)
    codes = {what: watch(known, "--torch", "9.1.0", "--fail-on", what).returncode for what in ("never", "regression")}
    assert codes == {"never": 0, "regression": 1}
    accept(known)
    codes = {what: watch(known, "--torch", "9.1.0", "--fail-on", what).returncode for what in ("unexpected", "any")}
    assert codes == {"unexpected": 0, "any": 1}
    assert told(known, "9.1.0") == FOUR
    refused = nox(known, "-s", "matrix", "--", "--fail-on", "any")
    assert refused.returncode == 4
    assert said(refused.stderr) == ["--fail-on is an option of nox -s watch; leave it out."]


@pytest.mark.parametrize("jobs", [(), ("-j", "2")], ids=["one", "two"])
def test_an_interrupted_verification_goes_on(known: Project, jobs: tuple[str, ...]) -> None:
    build_new(known)
    with start(known, "-s", "watch", "--", *jobs) as process:
        wait_for(lambda: list(known.reports.glob(".verification-*/environment/bin")), "the verification has begun")
        interrupt(process)
        out, err = stopped_writing(process)
    assert process.returncode == 2, out + err
    assert leftovers(known) == []
    assert len(known.records()) == 2
    (left,) = changes(known)["releases"]
    assert (left["torch"], left["complete"], left["changes"]) == ("9.1.0", False, [])
    done = watch(known, *jobs)
    assert done.returncode == 1, done.stdout + done.stderr
    assert tried(done) == [("9.1.0 again", 4)]
    assert told(known, "9.1.0") == FOUR


def test_what_cannot_be_verified_is_not_called_a_change_yet(known: Project) -> None:
    build_new(known)
    assert nox(known, "-s", "matrix", "--", "--torch", "9.1.0").returncode == 1
    wheel = "torch-9.1.0-py3-none-any.whl"
    known.index.faults[wheel] = Fault.NOT_FOUND
    shutil.rmtree(known.env["UV_CACHE_DIR"])
    done = watch(known, "--torch", "9.1.0")
    assert done.returncode == 6, done.stdout + done.stderr
    assert told(known, "9.1.0") == [(case, kind, "unverified") for case, kind, _ in FOUR]
    assert "What changed in torch 9.1.0 was not verified: torch 9.1.0 was not installed: " in done.stdout
    assert "4 changes are not verified, and may be flaky; nox -s watch tries again." in done.stdout
    assert leftovers(known) == []

    known.index.faults.clear()
    build_torch(known.index.folder, "9.1.0")
    other = watch(known)
    assert other.returncode == 6, "another wheel under the same name verifies nothing"
    assert "torch 9.1.0 is another installation now than the recorded one; run it again: --rerun all." in other.stdout
    build_new(known)
    shutil.rmtree(known.env["UV_CACHE_DIR"])
    assert watch(known).returncode == 1
    assert told(known, "9.1.0") == FOUR


def test_without_an_index_nobody_knows_what_is_new(known: Project) -> None:
    known.index.faults["torch"] = Fault.SERVER_ERROR
    done = watch(known)
    assert done.returncode == 6
    assert "No index could be asked: its list is of " in done.stdout
    assert ", 0 days old. What came since is not known." in done.stdout
    (known.reports / "index.json").unlink()
    assert "No index could be asked, and none ever was" in watch(known).stdout


def test_a_release_that_cannot_be_installed_stays_new(known: Project) -> None:
    build_torch(known.index.folder, "9.1.0", behaviour=Behaviour.REQUIRES_ABSENT)
    for _ in range(2):
        done = watch(known)
        assert done.returncode == 6
        assert "torch 9.1.0: not run\n  6 of 6 cases have no result: torch 9.1.0 was not installed: " in done.stdout
    build_new(known)
    shutil.rmtree(known.env["UV_CACHE_DIR"])
    assert watch(known).returncode == 1
    assert told(known, "9.1.0") == FOUR


def test_two_at_once_each_against_what_is_sure_of_the_release_before(known: Project) -> None:
    build_torch(known.index.folder, "9.1.0", checkpoints={"wavers": Behaviour.DOES_NOT_REPEAT})
    build_torch(known.index.folder, "9.2.0", checkpoints={"wavers": Behaviour.RAISES})
    done = watch(known, "-j", "2")
    assert done.returncode == 1, done.stdout + done.stderr
    assert told(known, "9.1.0") == [("evolves::wavers", "flaky", "flaky")]
    assert told(known, "9.2.0") == [("evolves::wavers", "regressed", "verified")]
    assert "pass until 9.0.0, CheckpointError from 9.2.0; unsteady between: 9.1.0" in done.stdout
    assert leftovers(known) == []
