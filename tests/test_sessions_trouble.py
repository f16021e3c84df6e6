"""Environments that cannot be built or trusted: each says why, and leaves the others as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.index import Fault
from support.project import nox
from support.sessions import GREEN, cell, leftovers, processes, record_of, said, trials
from support.wheels import Behaviour, build_torch

if TYPE_CHECKING:
    from support.index import Index
    from support.project import Project

TROUBLE = {
    "9.1.0": ("no-release", "There is no torch 9.1.0; the newest are 9.13.0, 9.14.0, 9.15.0. Name another one with"),
    "9.2.0": ("import-failed", "import torch ended by SIGABRT. The log is torch9.2.0-"),
    "9.3.0": ("import-failed", "import torch raised builtins.ImportError: libstandin.so.9: cannot open shared object"),
    "9.4.0": ("wrong-version", "torch 9.4.0 was asked for, and what was installed is 8.8.8 and 9.4.0; check where its"),
    "9.5.0": ("install-failed", "recompat-no-such-package was not found in the package registry"),
    "9.6.0": ("install-failed", "end of file before message length reached"),
    "9.7.0": ("install-failed", "Hash mismatch for `torch==9.7.0`"),
    "9.8.0": ("install-failed", "500 Internal Server Error"),
    "9.9.0": ("install-failed", "404 Not Found"),
    "9.10.0": ("unreachable", "torch 9.10.0 was not installed, the index is out of reach: "),
    "9.11.0": (
        "no-interpreter",
        "torch 9.11.0 has a wheel for cp319, and no such interpreter is here or can be fetched: ",
    ),
    "9.12.0": ("no-wheel", "torch 9.12.0 has no wheel for this platform; run it on another one."),
    "9.13.0": ("install-failed", "does not satisfy Python>=3.99"),
    "9.14.0": ("import-failed", "import torch did not end within 10 s. The log is torch9.14.0-"),
}
SOUND = ("9.0.0", "9.15.0")


def wheel(release: str) -> str:
    return f"torch-{release}-py3-none-any.whl"


def build_all(index: Index) -> None:
    """One wheel per kind of trouble, and sound ones before and after them."""
    (index.folder / wheel("9.1.0")).unlink()
    build_torch(index.folder, "9.2.0", behaviour=Behaviour.IMPORT_ABORTS)
    build_torch(index.folder, "9.3.0", behaviour=Behaviour.IMPORT_RAISES)
    build_torch(index.folder, "9.4.0", behaviour=Behaviour.IMPORTS_AS_OTHER)
    build_torch(index.folder, "9.5.0", behaviour=Behaviour.REQUIRES_ABSENT)
    build_torch(index.folder, "9.11.0", tags="cp319-cp319-linux_x86_64.macosx_11_0_arm64")
    build_torch(index.folder, "9.12.0", tags="py3-none-win32")
    build_torch(index.folder, "9.13.0", requires_python=">=3.99")
    build_torch(index.folder, "9.14.0", behaviour=Behaviour.IMPORT_HANGS)
    build_torch(index.folder, "9.15.0")
    faults = (Fault.TRUNCATED, Fault.WRONG_HASH, Fault.SERVER_ERROR, Fault.NOT_FOUND, Fault.STALL)
    for release, fault in zip(("9.6.0", "9.7.0", "9.8.0", "9.9.0", "9.10.0"), faults, strict=True):
        build_torch(index.folder, release)
        index.faults[wheel(release)] = fault


def test_every_trouble_has_its_reason_and_hurts_no_other(project: Project) -> None:
    build_all(project.index)
    project.write_matrix([*TROUBLE, *SOUND], timeout=2)
    project.expectations.write_text("", "utf-8")
    project.expect("passes::square", ">=9", "pass")
    project.expect("regresses::regresses", ">=9", "pass")
    done = nox(project, "-s", "matrix", env={"UV_HTTP_TIMEOUT": "2"}, timeout=180)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    found = {release: record_of(project, release)["trouble"] for release in TROUBLE}
    assert {release: trouble["kind"] for release, trouble in found.items()} == {
        r: kind for r, (kind, _) in TROUBLE.items()
    }
    columns = {column["torch"]: column for column in project.matrix_json()["environments"]}
    assert list(columns) == ["9.0.0", *TROUBLE, "9.15.0"]
    page = (project.reports / "matrix.md").read_text("utf-8")
    for release, (kind, reason) in TROUBLE.items():
        assert reason in found[release]["reason"], found[release]
        assert "http://" not in found[release]["reason"]
        assert columns[release]["trouble"] == found[release]
        assert f"torch {release}  not run: {kind}" in done.stdout
        for case in ("passes::square", "regresses::regresses"):
            missing = cell(project, case, release)
            assert (missing["outcome"], missing["verdict"]) == ("not-run", "missing")
            assert missing["detail"] == found[release]["reason"]
        assert f"`torch{release}-" in page.partition("## Not run")[2]
    for release in SOUND:
        assert project.cells()["passes::square", release] == "pass"
        assert set(trials(project, release)) == {"passes::square", "regresses::regresses"}
    assert "28 of 32 cells have no result; the other 4 as expected." in done.stdout
    assert leftovers(project) == []
    assert processes(project) == {}


def test_what_is_mended_is_run_and_what_stands_is_not(project: Project) -> None:
    project.index.faults[wheel("9.1.0")] = Fault.TRUNCATED
    half = nox(project, "-s", "matrix")
    assert half.returncode == 6
    before = record_of(project, "9.0.0")
    project.index.faults.clear()
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.cells() == GREEN
    assert record_of(project, "9.0.0") == before
    assert record_of(project, "9.1.0")["trouble"] is None
    assert leftovers(project) == []


def test_no_network_before_anything(project: Project) -> None:
    project.index.close()
    done = nox(project, "-s", "matrix")
    assert done.returncode == 6
    assert set(project.cells().values()) == {"not-run"}
    assert sorted(path.name for path in (project.reports / "site" / "records").iterdir()) == [
        f"{name}.json" for name in project.records()
    ]
    for release in ("9.0.0", "9.1.0"):
        trouble = record_of(project, release)["trouble"]
        assert trouble["kind"] == "unreachable"
        assert trouble["reason"].startswith(
            f"torch {release} could not be looked up: PyTorch's CPU index is out of reach; "
        )
        assert trouble["reason"].endswith("Check the network and run it again.")
    assert said(done.stderr) == []  # nothing will be downloaded instead
    assert leftovers(project) == []


def test_no_network_after_a_finished_run(finished: Project) -> None:
    finished.index.close()
    path = finished.cases / "passes.py"
    source = path.read_text("utf-8")
    path.write_text(source + "# edited\n", "utf-8")
    before = trials(finished, "9.1.0")["regresses::regresses"]
    done = nox(finished, "-s", "matrix")
    assert done.returncode == 6
    assert finished.cells() == {**GREEN, ("passes::square", "9.0.0"): "not-run", ("passes::square", "9.1.0"): "not-run"}
    assert trials(finished, "9.1.0")["regresses::regresses"] == before
    assert "could not be looked up" in cell(finished, "passes::square", "9.0.0")["detail"]
    ranged = nox(finished, "-s", "matrix", "--", "--torch", ">=9.1", "-k", "regresses")
    assert (ranged.returncode, finished.cells()) == (0, {("regresses::regresses", "9.1.0"): "raises"})


def test_what_stands_is_shown_where_it_could_not_be_run_again(finished: Project) -> None:
    finished.index.close()
    before, dates, site = finished.records(), finished.cells("date"), (finished.reports / "site").stat().st_ino
    assert finished.matrix_json()["notices"] == []
    done = nox(finished, "-s", "matrix", "--", "--rerun", "all")
    assert done.returncode == 6
    assert finished.cells() == GREEN
    assert finished.records() == before
    assert finished.cells("date") == dates
    notices = [
        f"torch {release} was not run again (unreachable); what was recorded before is shown."
        for release in ("9.0.0", "9.1.0")
    ]
    assert said(done.stderr) == notices
    assert finished.matrix_json()["notices"] == notices
    assert (finished.reports / "site").stat().st_ino != site
    for page in ("index.html", "matrix.md"):
        text = (finished.reports / "site" / page).read_text("utf-8")
        assert all(notice in text for notice in notices), page
    assert leftovers(finished) == []
