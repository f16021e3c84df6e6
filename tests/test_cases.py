from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from recompat.cases import Case, read_case_file, read_case_files
from recompat.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, text: str, name: str = "pattern.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_cases_are_read_and_never_run(tmp_path: Path) -> None:
    path = write(
        tmp_path, 'raise SystemExit\ndef case_one(): "A title.\\n\\nMore."\ndef case_two(): ...\ndef other(): ...\n'
    )
    file = read_case_file(path)
    assert file.cases == (Case("pattern::one", "A title."), Case("pattern::two", "two"))
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert file.fault is None


def test_a_syntax_error_names_the_line(tmp_path: Path) -> None:
    file = read_case_file(write(tmp_path, "import torch\ndef case_one(:\n"))
    assert [case.id for case in file.cases] == ["pattern::*"]
    assert file.fault is not None
    assert file.fault.startswith("pattern.py, line 2 is not valid Python")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "pattern.py"
    path.write_bytes(b"\0\xff")
    assert "is not valid Python" in str(read_case_file(path).fault)


def test_a_file_without_a_case(tmp_path: Path) -> None:
    file = read_case_file(write(tmp_path, "import torch\n"))
    assert (file.cases[0].id, file.fault) == (
        "pattern::*",
        "pattern.py defines no case; a case is a function whose name starts with case_.",
    )


def test_a_name_that_is_defined_twice(tmp_path: Path) -> None:
    file = read_case_file(write(tmp_path, "def case_a(): ...\ndef case_b(): ...\ndef case_a(): ...\n"))
    assert [case.id for case in file.cases] == ["pattern::a", "pattern::b"]
    assert file.fault == "pattern.py defines case_a more than once; rename all but one."


def test_private_files_are_no_case_files(tmp_path: Path) -> None:
    write(tmp_path, "", "_helper.py")
    write(tmp_path, "def case_a(): ...", "b.py")
    assert [file.path.name for file in read_case_files(tmp_path)] == ["b.py"]


def test_a_folder_without_case_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="There is no case file"):
        read_case_files(tmp_path / "absent")
