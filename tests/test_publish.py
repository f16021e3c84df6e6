from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders import NOW, PASSES
from recompat.cases import read_case_files
from recompat.expectations import Expectations
from recompat.gather import publish
from recompat.record import load_record, load_records, save_record
from recompat.report.formats import FORMATS, SITE, Format
from recompat.summarise import summarise
from recorded import four_releases, make_project, recorded
from scenes import CHECKPOINT, everything

if TYPE_CHECKING:
    from recompat.model import Record
    from recompat.project import Project
    from recompat.summary import Summary

ROOT = Path(__file__).parent.parent
PAGES = {
    *("index.html", "matrix.md", "matrix.json", "matrix.svg"),
    *("junit.xml", "ctrf.json", "badge.json", "badge.svg", "feed.xml"),
}


def summary_of(project: Project, *releases: str) -> tuple[Summary, tuple[Record, ...]]:
    """The summary of some of the releases that are recorded, and all records."""
    records, _ = load_records(project.records)
    files = read_case_files(project.cases)
    cases = [case for file in files for case in file.cases]
    chosen = [record for record in records if record.environment.torch in releases]
    return summarise(chosen, files, cases, Expectations({}), NOW), records


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_site_has_the_pages_their_records_and_the_cases(tmp_path: Path) -> None:
    project = four_releases(tmp_path)
    (project.reports / "logs").mkdir()
    publish(project, *summary_of(project, "2.9.1", "2.12.0"))
    site = project.reports / "site"
    kept = {f"records/torch{release}-cp311-linux_x86_64.json" for release in ("2.9.1", "2.12.0")}
    assert names(site) == PAGES | kept | {"cases/patterns.py"}
    assert (site / "cases" / "patterns.py").read_bytes() == (project.cases / "patterns.py").read_bytes()
    for name in kept:
        assert load_record(site / name) == load_record(project.reports / name)
    assert names(project.reports) >= PAGES, "each is found beside the records too"
    assert (project.reports / "cases").is_symlink()
    assert not (project.reports / "records").is_symlink()


def test_only_a_case_file_that_is_still_what_was_tested_is_published(tmp_path: Path) -> None:
    project = four_releases(tmp_path)
    found = summary_of(project, "2.9.1")
    (project.cases / "patterns.py").write_text("# edited meanwhile\n")
    publish(project, *found)
    assert not any(name.startswith("cases/") for name in names(project.reports / "site"))
    (project.cases / "patterns.py").unlink()
    publish(project, *found)
    assert names(project.reports / "site") >= PAGES


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="file names are text there")
def test_a_case_file_whose_name_is_no_text_is_told_and_does_not_stop_the_reports(tmp_path: Path) -> None:
    project = make_project(tmp_path, recorded("2.9.1", {"plain": PASSES}))
    (project.cases / os.fsdecode(b"b\xff.py")).write_text("# a file of another encoding\n")
    publish(project, *summary_of(project, "2.9.1"))
    assert names(project.reports / "site") >= PAGES
    assert (
        "b\\udcff.py is imported by its name"
        in json.loads((project.reports / "matrix.json").read_text())["cases"][0]["fault"]
    )


def test_a_fault_in_one_page_leaves_the_site_of_yesterday(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path, recorded("2.9.1", {"plain": PASSES}))
    publish(project, *summary_of(project, "2.9.1"))
    before = {name: (project.reports / name).read_bytes() for name in names(project.reports)}
    save_record(project.records, recorded("2.11.0", {"plain": CHECKPOINT}))
    monkeypatch.setitem(SITE, "feed.xml", Format("atom", "feed.no_such_function", "", "feed.xml"))
    with pytest.raises(AttributeError):
        publish(project, *summary_of(project, "2.9.1", "2.11.0"))
    assert {name: (project.reports / name).read_bytes() for name in before} == before


def test_a_format_is_known_by_one_name_and_a_file_belongs_to_one_format() -> None:
    assert {one.name for one in SITE.values()} <= set(FORMATS)
    assert set(SITE) == PAGES == {one.file for one in FORMATS.values() if one.file}
    assert all(name == one.name and one.what for name, one in FORMATS.items())


@pytest.mark.parametrize("name", FORMATS)
def test_a_text_ends_with_its_last_line(name: str) -> None:
    text = FORMATS[name].render(everything()).decode()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("name", FORMATS)
def test_the_reference_has_every_format(name: str) -> None:
    one = FORMATS[name]
    row = f"| `{name}` | {f'`{one.file}`' if one.file else '-'} | {one.what}"
    assert row in (ROOT / "docs" / "reference.md").read_text("utf-8")
