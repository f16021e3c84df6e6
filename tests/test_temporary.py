"""What a process that was killed has left is found and removed; what another one uses, and what is not ours, stays."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

import pytest

from recompat.atomic import write_atomically
from recompat.temporary import TemporaryFolder, hold

if TYPE_CHECKING:
    from pathlib import Path

MADE = "import sys, time; from recompat.temporary import TemporaryFolder as T; t = T(); print(t.path, flush=True); "
WRITING = """
import sys, time
from pathlib import Path
from recompat.temporary import temporary_file
with temporary_file(Path(sys.argv[1])):
    print(flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def started(source: str, *arguments: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", source, *arguments], stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline()
    return process


def test_a_folder_goes_with_its_owner(temporary: Path) -> None:
    with TemporaryFolder() as folder:
        assert names(temporary) == [folder.name]
        (folder / "locked" / "inner").mkdir(parents=True)
        (folder / "locked").chmod(0o500)
        (folder / "link").symlink_to(temporary.parent)
    assert names(temporary) == []


def test_what_a_killed_process_left_is_removed_and_what_another_uses_is_not(temporary: Path) -> None:
    with started(f"{MADE} time.sleep(60)") as process:
        (used,) = names(temporary)
        with TemporaryFolder() as folder:
            assert names(temporary) == sorted((used, folder.name))
        process.kill()
    assert names(temporary) == [used]
    with TemporaryFolder() as folder:
        assert names(temporary) == [folder.name]


def test_who_still_writes_there_leaves_nothing_that_stays(temporary: Path) -> None:
    """A child of ``nox -j`` outlives its parent, whose folder it notes its exit code in, for a moment."""
    with started(f"{MADE} time.sleep(60)") as process:
        process.kill()
    (left,) = temporary.iterdir()
    writes = f"""
import contextlib, sys
from pathlib import Path
print(flush=True)
while sys.stdin.readable():
    with contextlib.suppress(FileNotFoundError):
        for number in range(100):
            Path({str(left)!r}, str(number)).touch()
"""
    with started(writes) as process:
        TemporaryFolder().remove()
        process.kill()
    TemporaryFolder().remove()
    assert names(temporary) == []


def test_what_is_killed_while_it_removes_leaves_what_is_found_again(temporary: Path) -> None:
    for pause in range(6):
        source = (
            f"{MADE} [(t.path / str(n)).mkdir() for n in range(300)]; print(flush=True); time.sleep(0.05); t.remove()"
        )
        with started(source) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(0.05 + pause / 500)
            process.kill()
    TemporaryFolder().remove()
    assert names(temporary) == []


def test_a_child_does_not_keep_what_its_parent_left(temporary: Path) -> None:
    source = f"{MADE} import subprocess; subprocess.Popen(['sleep', '60']); time.sleep(60)"
    with started(source) as process:
        process.kill()
        process.wait()
        with TemporaryFolder() as folder:
            assert names(temporary) == [folder.name]


def test_what_only_has_such_a_name_stays(temporary: Path, tmp_path: Path) -> None:
    """A clone of the project in a temporary folder, say, or what somebody else made to look like ours."""
    (temporary / "recompat-main").mkdir()
    (temporary / "recompat-main" / "noxfile.py").touch()
    (temporary / "recompat-file").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".recompat-temporary").touch()
    (temporary / "recompat-link").symlink_to(elsewhere)
    TemporaryFolder().remove()
    assert names(temporary) == ["recompat-file", "recompat-link", "recompat-main"]
    assert names(elsewhere) == [".recompat-temporary"]


@pytest.mark.skipif(os.getuid() != 0, reason="gives a folder to another user")
def test_what_another_user_left_stays(temporary: Path) -> None:
    theirs = temporary / "recompat-theirs"
    theirs.mkdir()
    (theirs / ".recompat-temporary").touch()
    os.chown(theirs, 65534, 65534)
    TemporaryFolder().remove()
    assert names(temporary) == ["recompat-theirs"]


def test_a_half_written_file_is_removed_when_it_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "records" / "one.json"
    path.parent.mkdir()
    other = path.with_name(".one.json.original")
    other.touch()
    with started(WRITING, str(path)) as process:
        (half,) = [name for name in names(path.parent) if name != other.name]
        write_atomically(path, b"first")
        assert names(path.parent) == sorted((half, other.name, path.name)), "its writer lives"
        process.kill()
    write_atomically(path, b"second")
    assert names(path.parent) == [other.name, path.name]
    assert path.read_bytes() == b"second"


def test_a_file_that_was_taken_for_left_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its making and its locking another writer may remove it."""
    taken: list[Path] = []

    def held(path: Path) -> int | None:
        if not taken:
            taken.append(path)
            path.unlink()
        return hold(path)

    monkeypatch.setattr("recompat.temporary.hold", held)
    write_atomically(tmp_path / "one", b"whole")
    assert taken
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*one*")} == {"one": b"whole"}


def test_what_failed_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", b"whole")
    assert names(tmp_path) == ["folder", "tmp"]
