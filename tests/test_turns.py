from __future__ import annotations

import hashlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec

from builders import PASSES
from recompat.show import read_known
from recompat.turns import commands, source
from recorded import SOURCE, make_project, recorded

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_commands_for_others_name_no_folder_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "torch-2.11.0+cpu-cp311-cp311-linux_x86_64.whl").touch()
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    one = recorded("2.11.0", {"plain": PASSES})
    assert one.facts is not None
    facts = msgspec.structs.replace(one.facts, source="wheel folder", packages={"torch": "2.11.0+cpu"})
    project = make_project(tmp_path / "project", msgspec.structs.replace(one, facts=facts))
    made = commands("patterns::plain", read_known(project), "2.11.0")
    assert "--torch-backend cpu torch==2.11.0+cpu" in made[1]
    assert str(tmp_path) not in "".join(made)


def test_there_are_none_where_the_file_was_edited(tmp_path: Path) -> None:
    project = make_project(tmp_path, recorded("2.11.0", {"plain": PASSES}), source=SOURCE + "# edited\n")
    assert commands("patterns::plain", read_known(project), "2.11.0") == ()


def source_of(path: Path, content: bytes) -> str | None:
    path.write_bytes(content)
    file: Any = SimpleNamespace(path=path, sha256=hashlib.sha256(content).hexdigest())
    return source(file)


def test_the_case_file_is_told_if_all_of_it_can_be_seen(tmp_path: Path) -> None:
    path = tmp_path / "patterns.py"
    assert source_of(path, SOURCE.encode()) == SOURCE
    assert source_of(path, b"\tx = 1\n") == "\tx = 1\n"
    for hidden in ("x = 1  # \u202eevil", "x = 1  # \x1b[31m", "x" * 20_001):
        assert source_of(path, hidden.encode()) is None
    assert source_of(path, b"x = 1  # \xff") is None
