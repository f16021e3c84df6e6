from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import PASSES, raises, record, result, trouble
from recompat.baseline import accept_records
from recompat.errors import ConfigurationError
from recompat.project import Project
from recompat.record import save_record
from recorded import make_project, recorded

if TYPE_CHECKING:
    from pathlib import Path

    from recompat.model import Record

OLD = recorded("2.9.1", {"plain": PASSES, "plain_too": PASSES})
ID = "torch2.9.1-cp311-linux_x86_64"


def project_with(root: Path, held: Record | None, *records: Record) -> Project:
    project = make_project(root, *records)
    if held is not None:
        save_record(project.baseline, held)
    return project


def names(project: Project) -> list[str]:
    return sorted(path.stem for path in project.baseline.iterdir())


def test_records_are_copied_byte_for_byte(tmp_path: Path) -> None:
    project = project_with(tmp_path, None, OLD, recorded("2.11.0", {"plain": PASSES}))
    taken = accept_records(project, None)
    assert taken.changes == ("torch2.11.0-cp311-linux_x86_64: new, 1 case.", f"{ID}: new, 2 cases.")
    for name in names(project):
        assert (project.baseline / f"{name}.json").read_bytes() == (project.records / f"{name}.json").read_bytes()
    assert accept_records(project, None).changes == ("matrix/baseline is as it was.",)


def test_only_the_releases_that_are_named(tmp_path: Path) -> None:
    project = project_with(tmp_path, None, OLD, recorded("2.11.0", {"plain": PASSES}))
    accept_records(project, "2.9.1")
    assert names(project) == [ID]


def test_a_record_that_tells_as_much_replaces_the_accepted_one(tmp_path: Path) -> None:
    project = project_with(tmp_path, OLD, recorded("2.9.1", {"plain": raises(), "plain_too": PASSES}))
    assert accept_records(project, None).changes == (f"{ID}: replaced, 2 cases.",)


def test_a_case_that_no_file_has_any_more_is_no_loss(tmp_path: Path) -> None:
    held = recorded("2.9.1", {"plain": PASSES, "plain_too": PASSES, "gone": PASSES})
    assert accept_records(project_with(tmp_path, held, OLD), None).changes == (f"{ID}: replaced, 2 cases.",)


@pytest.mark.parametrize(
    ("worse", "why"),
    [
        (recorded("2.9.1", {"plain": PASSES}), "the accepted one has steady results of 1 case more"),
        (
            recorded("2.9.1", {"plain": result("patterns::plain", PASSES, raises(), PASSES), "plain_too": PASSES}),
            "the accepted one has steady results of 1 case more",
        ),
        (record("2.9.1", trouble=trouble()), "it has trouble with its environment"),
        (recorded("2.9.1", {}), "it has no results"),
    ],
)
def test_a_record_that_tells_less_is_named_and_left(tmp_path: Path, worse: Record, why: str) -> None:
    project = project_with(tmp_path, OLD, worse)
    before = (project.baseline / f"{ID}.json").read_bytes()
    taken = accept_records(project, None)
    assert taken.remarks == (f"{ID} was left, since {why}.",)
    assert (project.baseline / f"{ID}.json").read_bytes() == before


def test_the_baseline_is_not_copied_onto_itself(tmp_path: Path) -> None:
    project = project_with(tmp_path, OLD)
    with pytest.raises(ConfigurationError, match="is where records are copied to; name another folder with --records"):
        accept_records(Project(project.root, project.baseline), None)
