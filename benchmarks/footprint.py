"""Disk and network: what a run of one release takes with empty caches, at its peak and in all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import chain
from pathlib import Path

from tabulate import tabulate

from benchmarks.peers import clone, environ

__all__ = ["footprint"]

RELEASES = ("2.13.0", "2.11.0")
PAUSE = 0.5  # seconds between two looks
MEGABYTE = 10**6


def footprint(keyword: str | None, folder: Path) -> str:
    """Tell for each release what came over the network, what stood on the disk at most, and what was left."""
    rows = [(release, *_run(release, keyword or "sdpa_policy", folder / release)) for release in RELEASES]
    table = tabulate(
        rows, headers=["torch", "received, MB", "peak on disk, MB", "left, MB"], tablefmt="github", floatfmt=".0f"
    )
    return f"### Disk and network, caches empty\n\n{table}\n"


def _run(release: str, keyword: str, folder: Path) -> tuple[float, float, float]:
    project = folder / "project"
    clone(project)
    variables = {name: value for name, value in environ().items() if name != "UV_CACHE_DIR"}
    variables["XDG_CACHE_HOME"] = str(folder / "cache")
    places, before = (project / ".nox", folder / "cache"), _received()
    looked, done = Looked(places), threading.Event()
    thread = threading.Thread(target=looked.until, args=(done,))
    thread.start()
    try:
        subprocess.run(
            [sys.executable, "-m", "nox", "-s", "matrix", "--", "--torch", release, "-k", keyword],
            cwd=project,
            env=variables,
            check=False,
            capture_output=True,
        )
    finally:
        done.set()
        thread.join()
    left = _size(*places)
    return (_received() - before) / MEGABYTE, looked.most / MEGABYTE, left / MEGABYTE


class Looked:
    """Looks again and again at what some folders take; ``most`` in bytes."""

    def __init__(self, places: tuple[Path, ...]) -> None:
        self._places = places
        self.most = 0

    def until(self, done: threading.Event) -> None:
        """Look until it is done."""
        while not done.wait(PAUSE):
            self.most = max(self.most, _size(*self._places))


def _size(*folders: Path) -> int:
    """The blocks of all files, each once, however many names it has."""
    seen: dict[tuple[int, int], int] = {}
    for place, _, names in chain.from_iterable(map(os.walk, folders)):
        for name in names:
            with suppress(OSError):
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - of tens of thousands of files
                seen[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(seen.values())


def _received() -> int:
    """Bytes received since the machine began, but for its own."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return sum(int(line.split(":")[1].split()[0]) for line in lines if line.split(":")[0].strip() != "lo")
