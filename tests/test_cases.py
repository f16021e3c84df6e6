from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from recompat.cases import read_case_file, read_case_files
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
    assert [(case.id, case.title) for case in file.cases] == [("pattern::one", "A title."), ("pattern::two", "two")]
    assert [(case.family, case.about.text) for case in file.cases] == [("pattern", "More."), ("pattern", "")]
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert file.fault is None


def test_a_syntax_error_names_the_line(tmp_path: Path) -> None:
    file = read_case_file(write(tmp_path, "import torch\ndef case_one(:\n"))
    assert [case.id for case in file.cases] == ["pattern::*"]
    assert file.fault is not None
    assert file.fault.startswith("pattern.py, line 2 is not valid Python: ")


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


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("if True:\n    def case_a(): ...\n", "defines case_a in line 2 otherwise than as a plain function"),
        ("def case_b(): ...\nasync def case_a(): ...\n", "defines case_a in line 2 otherwise than as a plain function"),
        ("class case_a: ...\n", "defines case_a in line 1 otherwise than as a plain function"),
        ("def case_(): ...\n", "defines a case without a name"),
        ("a = " + "1 + " * 30_000 + "1\n", "is not valid Python"),
    ],
)
def test_no_case_is_lost_in_silence(tmp_path: Path, text: str, fault: str) -> None:
    assert fault in str(read_case_file(write(tmp_path, text)).fault)


@pytest.mark.parametrize("name", ["a::b.py", "a-b.py", "a b.py", "a.b.py", "1st.py", os.fsdecode(b"caf\xe9.py")])
def test_a_name_that_cannot_be_imported(tmp_path: Path, name: str) -> None:
    file = read_case_file(write(tmp_path, "def case_a(): ...", name))
    assert "is imported by its name" in str(file.fault)
    assert file.cases[0].id.encode()


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".#edited.py").symlink_to("someone@somewhere")  # a lock of Emacs
    files = read_case_files(tmp_path)
    assert [file.path.name for file in files] == ["folder.py", "link.py", "pipe.py"]
    assert all("is no file" in str(file.fault) for file in files)


def test_a_title_is_text_that_can_be_written(tmp_path: Path) -> None:
    file = read_case_file(write(tmp_path, 'def case_a():\n    "\\ud800 title"\n'))
    assert file.cases[0].title == "\\ud800 title"


def test_private_files_are_no_case_files(tmp_path: Path) -> None:
    write(tmp_path, "", "_helper.py")
    write(tmp_path, "def case_a(): ...", "b.py")
    assert [file.path.name for file in read_case_files(tmp_path)] == ["b.py"]


def test_a_folder_without_case_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="There is no case file"):
        read_case_files(tmp_path / "absent")


def test_a_file_that_is_very_large_is_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_bytes(b"def case_a(): pass\n" + b"#" * (1 << 19))
    assert read_case_file(tmp_path / "large.py").fault == "large.py has more than 512 KiB; divide it."
