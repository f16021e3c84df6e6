from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from recompat.options import parse_options
from recompat.project import Project
from recompat.unchanged import look, remember, unchanged
from scenes import everything

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recompat.options import Options
    from recompat.summary import Summary


PLAIN = parse_options([])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose site was just written, as far as this module looks at it."""
    for folder in ("matrix/cases", "reports/records", "reports/site"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("matrix/matrix.toml", "matrix/expectations.toml", "matrix/cases/one.py", "reports/site/index.html"):
        (tmp_path / name).write_text("1")
    (tmp_path / "reports" / "records" / "torch9.0.0.json").write_text("{}")
    return Project(tmp_path)


def published() -> Summary:
    """A summary with numbers that JSON does not have."""
    summary = everything()
    cell = msgspec.structs.replace(summary.cells[0], max_abs_diff=float("inf"))
    return msgspec.structs.replace(summary, cells=(cell, *summary.cells[1:]), notices=("A claim ends today.",))


def keep(project: Project, options: Options = PLAIN) -> None:
    remember(project, options, published(), "the table")


def test_what_was_published_is_given_back_whole(project: Project) -> None:
    keep(project)
    kept = unchanged(project, PLAIN)
    assert kept is not None
    assert (kept.summary, kept.table, kept.look) == (published(), "the table", look())
    assert (kept.notices, kept.exit_code) == (published().notices, published().exit_code)


def test_nothing_is_given_back_where_nothing_was_kept(project: Project) -> None:
    assert unchanged(project, PLAIN) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "matrix" / "matrix.toml").write_text("2"),
        lambda root: (root / "matrix" / "expectations.toml").write_text("2"),
        lambda root: (root / "matrix" / "cases" / "one.py").write_text("2"),
        lambda root: (root / "matrix" / "cases" / "two.py").write_text("1"),
        lambda root: (root / "matrix" / "cases" / "one.py").rename(root / "matrix" / "cases" / "two.py"),
        lambda root: (root / "reports" / "records" / "torch9.0.0.json").write_text("[]"),
        lambda root: (root / "reports" / "records" / "torch9.1.0.json").write_text("{}"),
        lambda root: (root / "reports" / "records" / "torch9.0.0.json").unlink(),
        lambda root: (root / "reports" / "index.json").write_text("{}"),
        lambda root: (root / "reports" / "site" / "index.html").unlink(),
        lambda root: (root / "reports" / "site" / "index.html").write_text("12"),
        lambda root: (root / "reports" / "published.msgpack").write_bytes(b"\x80"),
        lambda root: (root / "reports" / "published.msgpack").write_bytes(b""),
    ],
)
def test_whatever_changes_is_noticed(project: Project, change: Callable[[Path], object]) -> None:
    keep(project)
    change(project.root)
    assert unchanged(project, PLAIN) is None


def test_a_file_with_its_old_date_is_noticed(project: Project) -> None:
    keep(project)
    path = project.cases / "one.py"
    before = path.stat()
    path.write_text("2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert unchanged(project, PLAIN) is None


@pytest.mark.parametrize(
    "words",
    [["-k", "one"], ["--torch", "9.0.0"], ["--timeout", "3"], ["--isolation", "process"], ["--source", "cpu"]],
)
def test_other_options_are_another_run(project: Project, words: list[str]) -> None:
    keep(project)
    assert unchanged(project, parse_options(words)) is None
    keep(project, parse_options(words))
    assert unchanged(project, parse_options(words)) is not None


@pytest.mark.parametrize(
    "words",
    [
        ["--torch", "latest"],
        ["--torch", "9.0.0,new"],
        ["--rerun", "all"],
        ["--index-url", "https://example.org/simple"],
    ],
)
def test_what_depends_on_more_than_files_is_never_kept(project: Project, words: list[str]) -> None:
    keep(project, parse_options(words))
    assert unchanged(project, parse_options(words)) is None


def test_another_day_is_another_run_since_claims_end(project: Project) -> None:
    keep(project)
    assert unchanged(project, PLAIN, "2126-01-01") is None


def test_what_a_table_depends_on_is_told_by_its_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    narrow = look()
    monkeypatch.setenv("COLUMNS", "81")
    wide = look()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert len({narrow, wide, look()}) == 3


def test_little_is_imported_where_nothing_has_changed() -> None:
    source = "import recompat.nox, sys; print(*(name for name in sys.modules if name.startswith('recompat.')))"
    done = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True)
    imported = {name.removeprefix("recompat.") for name in done.stdout.split()}
    assert "unchanged" in imported
    assert imported.isdisjoint({"plan", "sessions", "summary", "cells", "record", "report.terminal", "environment"})
