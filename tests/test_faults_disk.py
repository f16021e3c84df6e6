"""A disk that is full, of those that ``nox -s faults -- disk`` fills, and how it is told that one is."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from faults import disk
from faults.tally import Tally
from recompat.room import check_room, was_full
from recompat.temporary import TemporaryFolder
from support.disks import fill, small_disk

if TYPE_CHECKING:
    from pathlib import Path

    from support.index import Index


@pytest.fixture
def mounted(tmp_path: Path) -> None:
    """Skip where this user may not mount: there the tests of sessions fill disks that are small anyway."""
    try:
        disk.Disk(tmp_path / "trial").close()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may not mount a disk")


@pytest.mark.usefixtures("mounted")
def test_a_full_disk_is_told_and_the_next_run_is_whole(tmp_path: Path, index: Index) -> None:
    disk.build_wheels(index.folder)
    tally = Tally()
    with disk.ground(tmp_path, index, "temporary files") as made:
        for share in (0.37, 0.83):  # the probe cannot write, and a trial cannot
            disk.inject(made, disk.Blow("temporary files", "bytes", share), tally)
    assert (tally.injected, tally.lost, tally.wrong, tally.left) == (2, [], [], [])


@pytest.mark.usefixtures("mounted")
def test_room_for_bytes_is_none_for_files(tmp_path: Path) -> None:
    made = disk.Disk(tmp_path / "disk")
    try:
        check_room(made.folder / "environments")
        made.resize(disk.Amount(disk.ENOUGH, 20))
        with pytest.raises(OSError, match=r"No space left on device: .*environments"):
            check_room(made.folder / "environments")
        assert was_full(tmp_path / "no log", [made.folder])
    finally:
        made.close()


@pytest.mark.usefixtures("mounted")
def test_a_temporary_folder_without_room_for_its_mark_is_not_left(tmp_path: Path) -> None:
    made = disk.Disk(tmp_path / "disk")
    try:
        made.resize(disk.Amount(disk.ENOUGH, made.taken.files + 1))
        with pytest.raises(OSError, match="No space left on device"):
            TemporaryFolder(parent=made.folder)
        assert list(made.folder.iterdir()) == []
    finally:
        made.close()


def test_room_is_found_wanting(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    with small_disk(folder):
        check_room(folder / "environments")
        assert list((folder / "environments").iterdir()) == []
        assert not was_full(tmp_path / "no log", [folder, tmp_path / "nowhere"])
        filler = fill(folder, leave=1 << 17)
        with pytest.raises(OSError, match=r"No space left on device: .*environments"):
            check_room(folder / "environments")  # a part of it fits
        filler.unlink()
        fill(folder)
        with pytest.raises(OSError, match=r"No space left on device: .*environments"):
            check_room(folder / "environments")
        assert was_full(tmp_path / "no log", [folder])


def test_a_log_that_says_so_is_believed(tmp_path: Path) -> None:
    log = tmp_path / "probe.log"
    log.write_bytes(b"\xff\nOSError: [Errno 28] No space left on device: '/tmp/x'\n")
    assert was_full(log, [])
    log.write_text("Killed\n")
    assert not was_full(log, [])
