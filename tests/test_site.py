from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recompat.site import exchange, replace_site
from support.disks import fill, small_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).parent.parent
OLD = {"index.html": b"old", "gone.txt": b"old", "cases/a.py": b"old"}
NEW = {"index.html": b"new", "matrix.json": b"{}", "cases/a.py": b"new", "cases/b.py": b"new"}
NAMES = ("index.html", "matrix.json", "cases")


def refused(one: Path, other: Path) -> bool:
    return False


def no_links(target: str, path: Path) -> None:
    raise OSError(1314, "A required privilege is not held by the client")


SWAPS = pytest.mark.parametrize("swap", [exchange, refused])


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A folder with yesterday's site."""
    made = tmp_path / "reports"
    replace_site(made, OLD.items(), NAMES)
    return made


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such renaming")
def test_two_folders_are_swapped_in_one_step(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / f"of {folder.name}").touch()
    assert exchange(one, other)
    assert [path.name for path in one.iterdir()] == ["of other"]
    assert [path.name for path in other.iterdir()] == ["of one"]
    assert not exchange(one, tmp_path / "nowhere")
    assert one.is_dir()


@SWAPS
def test_the_new_one_is_whole_before_it_takes_the_place_of_the_old_one(
    reports: Path, swap: Callable[[Path, Path], bool]
) -> None:
    seen = []

    def watched(new: Path, site: Path) -> bool:
        seen.extend([content(new), content(site)])
        return swap(new, site)

    replace_site(reports, NEW.items(), NAMES, swap=watched)
    assert seen == [NEW, OLD]
    assert content(reports / "site") == NEW
    assert hidden(reports) == []


@SWAPS
def test_the_first_one_makes_its_folder(tmp_path: Path, swap: Callable[[Path, Path], bool]) -> None:
    replace_site(tmp_path / "a" / "reports", NEW.items(), swap=swap)
    assert content(tmp_path / "a" / "reports") == {f"site/{name}": text for name, text in NEW.items()}


HALF = {"index.html": b"half", "cases/a.py": b"half", "cases/b.py": b"half"}
KILLED = {
    "while it writes": "files = Dying(files)",
    "before the swap": "options['swap'] = lambda new, site: die()",
    "after the swap": "options['swap'] = lambda new, site: site_module.exchange(new, site) and die()",
    "between two renamings": "options['swap'] = lambda new, site: pathlib.Path.rename(site, site.with_name('.site.old')) and die()",
}
SCRIPT = """
import os, pathlib, signal, sys
import recompat.site as site_module

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(dict):
    def items(self):
        yield from list(super().items())[:2]
        die()

files, options = HALF, {}
MOMENT
site_module.replace_site(pathlib.Path(sys.argv[1]), files.items(), **options)
"""


@pytest.mark.parametrize("moment", KILLED)
def test_what_a_killed_run_leaves_is_whole_and_the_next_one_clears_up(reports: Path, moment: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", SCRIPT.replace("HALF", repr(HALF)).replace("MOMENT", KILLED[moment]), str(reports)]
    assert subprocess.run(command, env=env, check=False, timeout=60).returncode == -9
    assert hidden(reports) != []
    if moment == "between two renamings":
        assert not (reports / "site").exists()
    else:
        assert content(reports / "site") == (OLD if moment != "after the swap" else HALF)
    replace_site(reports, NEW.items(), NAMES)
    assert content(reports / "site") == NEW
    assert hidden(reports) == []


def test_one_that_was_renamed_away_comes_back_where_the_next_one_fails(reports: Path) -> None:
    (reports / "site").rename(reports / ".site.old")
    with pytest.raises(FileExistsError):
        replace_site(reports, {"a": b"", "a/b": b""}.items())
    assert content(reports / "site") == OLD
    assert hidden(reports) == []


def gone(new: Path, site: Path) -> bool:
    new.rename(new.with_name("elsewhere"))
    return False


def interrupted(new: Path, site: Path) -> bool:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("files", "swap", "error"),
    [
        ({"index.html": b"", "index.html/a": b""}, exchange, FileExistsError),
        (NEW, gone, FileNotFoundError),
        (NEW, interrupted, KeyboardInterrupt),
    ],
)
def test_what_fails_leaves_the_old_one(
    reports: Path, files: Mapping[str, bytes], swap: Callable[[Path, Path], bool], error: type[BaseException]
) -> None:
    with pytest.raises(error) as caught:
        replace_site(reports, files.items(), NAMES, swap=swap)
    assert str(getattr(caught.value, "filename", reports / "site")).startswith(str(reports / "site"))
    assert content(reports / "site") == OLD
    assert hidden(reports) == []


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """Reports on a disk that has no room but what the site of yesterday takes."""
    made = tmp_path / "reports"
    with small_disk(made):
        replace_site(made, OLD.items(), NAMES)
        fill(made)
        yield made


def test_a_full_disk_leaves_the_old_one(full: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        replace_site(full, {"index.html": bytes(100_000)}.items(), NAMES)
    assert caught.value.filename == str(full / "site")
    assert content(full / "site") == OLD
    assert hidden(full) == []


def test_two_at_once_take_turns(reports: Path) -> None:
    faults: list[BaseException] = []

    def publish(text: bytes) -> None:
        try:
            for _ in range(20):
                replace_site(reports, dict.fromkeys(NEW, text).items(), NAMES)
        except BaseException as error:  # noqa: BLE001 - told by the assertion below
            faults.append(error)

    threads = [threading.Thread(target=publish, args=(text,)) for text in (b"one", b"other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert set(content(reports / "site").values()) in ({b"one"}, {b"other"})
    assert hidden(reports) == []


def test_names_lead_into_the_site_by_relative_links(reports: Path, tmp_path: Path) -> None:
    assert (reports / "index.html").readlink() == Path("site/index.html")
    assert (reports / "cases").readlink() == Path("site/cases")
    assert not (reports / "matrix.json").is_symlink(), "the site has none"
    replace_site(reports, NEW.items(), NAMES)
    moved = reports.rename(tmp_path / "moved")
    assert [(moved / name).read_bytes() for name in ("index.html", "matrix.json", "cases/b.py")] == [
        b"new",
        b"{}",
        b"new",
    ]
    assert sorted(path.name for path in moved.iterdir()) == ["cases", "index.html", "matrix.json", "site"]


def test_an_older_file_becomes_a_link_and_what_is_somebody_elses_stays(tmp_path: Path) -> None:
    (tmp_path / "matrix.json").write_bytes(b"of an earlier version")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "mine.py").write_bytes(b"mine")
    (tmp_path / "mine.html").write_bytes(b"mine")
    (tmp_path / "index.html").symlink_to("mine.html")
    replace_site(tmp_path, NEW.items(), NAMES)
    assert (tmp_path / "matrix.json").readlink() == Path("site/matrix.json")
    assert content(tmp_path / "cases") == {"mine.py": b"mine"}
    assert (tmp_path / "index.html").readlink() == Path("mine.html")
    assert (tmp_path / "mine.html").read_bytes() == b"mine"


def test_a_file_where_a_folder_should_be_stays(tmp_path: Path) -> None:
    (tmp_path / "cases").write_bytes(b"mine")
    replace_site(tmp_path, NEW.items(), NAMES)
    assert (tmp_path / "cases").read_bytes() == b"mine"


@SWAPS
@pytest.mark.parametrize("kind", ["a file", "a link", "a broken link"])
def test_what_somebody_else_put_in_its_place_is_refused_and_stays(
    kind: str, tmp_path: Path, swap: Callable[[Path, Path], bool]
) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "www"
    if kind == "a link":
        elsewhere.mkdir()
        (elsewhere / "mine.html").write_bytes(b"mine")
    if kind == "a file":
        site.write_bytes(b"mine")
    else:
        site.symlink_to(elsewhere)
    before = content(tmp_path)
    with pytest.raises(FileExistsError, match=kind.removeprefix("a broken ")) as caught:
        replace_site(tmp_path, NEW.items(), NAMES, swap=swap)
    assert caught.value.filename == str(site)
    assert content(tmp_path) == before
    assert site.is_symlink() == (kind != "a file")
    assert hidden(tmp_path) == []


def test_where_links_are_refused_files_are_copied(tmp_path: Path) -> None:
    for files in (OLD, NEW):
        replace_site(tmp_path, files.items(), NAMES, link=no_links)
        assert (tmp_path / "index.html").read_bytes() == files["index.html"]
        assert not (tmp_path / "index.html").is_symlink()
    assert not (tmp_path / "cases").exists()
    assert hidden(tmp_path) == []
