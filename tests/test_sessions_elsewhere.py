"""The sessions in a repository that has sessions and defaults of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.project import nox
from support.sessions import said

if TYPE_CHECKING:
    from support.project import Project

NOXFILE = '''import sys

import nox

sys.path.insert(0, "src")

from recompat.nox import define_sessions

nox.options.default_venv_backend = "none"
nox.options.stop_on_first_error = True


@nox.session
def unit(session):
    """Test something else."""
    session.log(f"ran in {type(session.virtualenv).__name__}")


define_sessions(__file__)
'''


def test_what_runs_by_default_is_theirs_alone(project: Project) -> None:
    (project.root / "noxfile.py").write_text(NOXFILE)
    done = nox(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ran in PassthroughEnv" in done.stdout + done.stderr
    assert "matrix" not in done.stdout + done.stderr
    assert said(done.stderr) == []
    assert project.index.requests == []
    assert not project.reports.exists()
    assert sorted(path.name for path in (project.root / ".nox").glob("*")) == []


def test_the_sessions_are_listed_with_what_they_do(project: Project) -> None:
    (project.root / "noxfile.py").write_text(NOXFILE)
    listed = nox(project, "-l").stdout
    assert "* unit -> Test something else.\n" in listed
    for name in ("probe(torch='9.0.0')", "matrix", "watch", "report"):
        assert f"\n- {name} -> " in listed


def test_a_probe_and_the_matrix_run_beside_them(project: Project) -> None:
    (project.root / "noxfile.py").write_text(NOXFILE)
    done = nox(project, "-s", "probe(torch='9.0.0')")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [record["environment"]["torch"] for record in project.records().values()] == ["9.0.0"]
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "As expected: all 4 cells." in done.stdout


def test_a_folder_may_be_named_instead(project: Project) -> None:
    beside = project.root / "other"
    beside.mkdir()
    (project.root / "noxfile.py").write_text(NOXFILE.replace("__file__", '"elsewhere"'))
    project.root.joinpath("matrix").rename(project.root / "elsewhere")
    (project.root / "elsewhere").rename(beside / "matrix")
    beside.rename(project.root / "elsewhere")
    done = nox(project, "-s", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project.root / "elsewhere" / "reports" / "matrix.json").is_file()
