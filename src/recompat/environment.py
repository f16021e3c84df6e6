"""Building the environment of one release with uv, proving what is in it, and dropping it."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

from recompat.atomic import write_atomically
from recompat.bound import bound, is_from_outside
from recompat.index import without_login
from recompat.lock import FILE, LockedPackage
from recompat.model import TroubleKind
from recompat.reaper import reaped
from recompat.requirements import requirement_lines
from recompat.room import says_full
from recompat.sources import Source
from recompat.tools import uv_binary
from recompat.wheels import EnvironmentTrouble, Wheel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "Build",
    "build_environment",
    "drop_environment",
    "drop_unused_environment",
    "keep_environment",
    "python_of",
    "reason_of",
    "stamp",
    "take_environment",
    "wheel_digest",
]

INSTALL_SECONDS = 3600.0
OTHER_DIGEST = "Hash mismatch"  # in uv's words
COMPLETE = "recompat-complete.json"
ADDED = (
    "INSTALLER",
    "RECORD",
    "REQUESTED",
    "direct_url.json",
    "uv_cache.json",
)  # by installers, in the .dist-info folder
LOGIN = re.compile(r"(?<=://)[^\s@]*@")
REASON = re.compile(r"\s*(?:(?:error|cause|Caused by):|[\u00d7╰]\S*)\s*(?=\S)")  # older ones are drawn: `╰─▶ Because …`


class Build(msgspec.Struct, frozen=True):
    """What goes into an environment: the wheel, and the packages beside it.

    ``stamp`` tells one local wheel from another that took its name. What is ``locked`` is all that may be installed.
    """

    release: str
    wheel: Wheel
    packages: tuple[str, ...]
    stamp: str = ""
    locked: tuple[LockedPackage, ...] = ()


def python_of(location: Path) -> Path:
    """The interpreter of the environment at ``location``."""
    return location / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def stamp(url: str) -> str:
    """The size and the time of a local wheel; nothing for one of an index."""
    if not url.startswith("file:"):
        return ""
    with contextlib.suppress(OSError):
        status = Path(url2pathname(urlsplit(url).path)).stat()
        return f"{status.st_size} {status.st_mtime_ns}"
    return ""


def keep_environment(location: Path, build: Build) -> None:
    """Leave ``location`` to a later run, once all of it is on the disk: a machine that loses power may else keep the mark alone."""
    with contextlib.suppress(OSError):
        if hasattr(os, "sync"):
            os.sync()
        write_atomically(location / COMPLETE, _encoded(build))


def take_environment(location: Path, build: Build) -> bool:
    """Whether ``location`` holds exactly this build, and was kept. If so it is not any more: what dies meanwhile leaves no mark."""
    try:
        if (location / COMPLETE).read_bytes() != _encoded(build):
            return False
        (location / COMPLETE).unlink()
    except OSError:
        return False
    return True


def build_environment(location: Path, build: Build, log: Path, tries: int = 2) -> None:
    """Install ``build`` at ``location``, replacing whatever stands there; once more where uv is ended from outside.

    A CUDA build is downloaded into a cache inside the environment, which goes with it: 5 GB that hardly anything else would
    use. Set ``UV_CACHE_DIR`` to keep what is downloaded. Wheels alone are installed: to build a package would run code of its
    own, outside of the environment and with all that uv is told.

    Raises:
        EnvironmentTrouble: with uv's own reason, in a sentence.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        _build(location, build, log)
    except _Ended as error:
        if tries == 1:
            reason = f"torch {build.release} was not installed: uv was {error}, twice; run it again."
            raise EnvironmentTrouble(TroubleKind.PROBE_FAILED, reason) from None
        build_environment(location, build, log, tries - 1)


class _Ended(Exception):
    """uv was ended from outside, which says nothing of the release; what it installed is not to be trusted."""


def _build(location: Path, build: Build, log: Path) -> None:
    drop_environment(location)
    _uv(["venv", "--no-project", "--python", build.wheel.executable, str(location)], build, os.environ, log)
    private = {"UV_CACHE_DIR": str(location / "uv-cache")} if build.wheel.source is Source.DEFAULT else {}
    hashes = ["--require-hashes"] if build.locked else []
    install = ["pip", "install", "--python", str(python_of(location)), "--only-binary", ":all:", *hashes, "-r", "-"]
    wanted = "\n".join(requirement_lines(build))
    try:
        _uv(install, build, {**private, **os.environ}, log, wanted)
    except EnvironmentTrouble as error:
        if OTHER_DIGEST not in error.trouble.reason:
            raise
        anew = {"UV_CACHE_DIR": str(location / "uv-cache-anew")}  # the other one may have what was there before
        _uv(install, build, {**os.environ, **anew}, log, wanted)


def _encoded(build: Build) -> bytes:
    """What is kept of a build: without the login to an index."""
    offer = msgspec.structs.replace(build.wheel.offer, url=without_login(build.wheel.offer.url))
    return msgspec.json.encode(msgspec.structs.replace(build, wheel=msgspec.structs.replace(build.wheel, offer=offer)))


def wheel_digest(location: Path) -> str | None:
    """The SHA-256 of what the torch wheel at ``location`` brought: of the lines of its ``RECORD``, a digest for every file.

    Lines that the installer adds are left out. One of them tells its start scripts, which begin with where the environment
    stands: the same wheel would have another digest at each place. None where there is no such file, or none that can be read.
    """
    records = sorted(location.glob("[Ll]ib/**/site-packages/torch-*.dist-info/RECORD"))
    if len(records) != 1:
        return None
    try:
        with records[0].open(newline="", encoding="utf-8") as file:
            rows = sorted(",".join(row) for row in csv.reader(file) if row and _of_the_wheel(row[0]))
    except (csv.Error, UnicodeDecodeError):
        return None
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _of_the_wheel(path: str) -> bool:
    inside = not path.startswith(("..", "/")) and "__pycache__" not in path
    return inside and not path.endswith(tuple(f".dist-info/{name}" for name in ADDED))


def drop_environment(location: Path) -> None:
    """Remove the environment and its cache, as far as the system lets us; what is left of it is never used again."""
    with contextlib.suppress(OSError):
        (location / COMPLETE).unlink()
    shutil.rmtree(location, ignore_errors=True)


def drop_unused_environment(location: Path) -> None:
    """Remove what nox made for a session that had nothing to do; a kept environment stays."""
    if not (location / COMPLETE).exists():
        drop_environment(location)


def _uv(arguments: Sequence[str], build: Build, environ: Mapping[str, str], log: Path, wanted: str = "") -> None:
    """Run uv; ``wanted`` is what it reads as its requirements."""
    command = bound([uv_binary(), "--color=never", *arguments])
    with log.open("a", encoding="utf-8", errors="surrogateescape") as output:  # of a path that the locale cannot spell
        output.write(f"$ uv {LOGIN.sub('', ' '.join(arguments))}\n")
        output.writelines(f"  {LOGIN.sub('', line)}\n" for line in wanted.splitlines())
        output.flush()
        start = output.tell()
        try:
            done = subprocess.run(
                command,
                env=reaped(environ),
                input=wanted.encode(errors="surrogateescape"),
                stdout=output,
                stderr=output,
                timeout=INSTALL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentTrouble(
                TroubleKind.INSTALL_FAILED, f"torch {build.release} was not installed within {INSTALL_SECONDS:.0f} s."
            ) from None
    if is_from_outside(done.returncode):
        raise _Ended(f"ended by {signal.Signals(-done.returncode).name}")
    if done.returncode:
        said = log.read_bytes()[start:].decode("utf-8", "replace")
        raise _why(build, arguments[0], said, log)


def _why(build: Build, step: str, said: str, log: Path) -> EnvironmentTrouble:
    """Turn uv's failure into trouble of a kind, told by the words it uses."""
    reason = reason_of(said)
    see = f"The log is {log.parent.name}/{log.name}."
    if says_full(said):
        free = "free some space (about 8 GB for a CUDA build, 2 GB for a CPU build) and run it again"
        return EnvironmentTrouble(
            TroubleKind.DISK_FULL, f"The disk is full: torch {build.release} was not installed; {free}."
        )
    if step == "venv":
        what = f"torch {build.release} has a wheel for {build.wheel.python}, and no such interpreter is here or can be fetched"
        return EnvironmentTrouble(TroubleKind.NO_INTERPRETER, f"{what}: {reason} Install one and run it again.")
    if re.search(
        r"error sending request|dns error|connect error|Connection refused|Could not connect|timed out",
        said,
        re.IGNORECASE,
    ):
        what = f"torch {build.release} was not installed, the index is out of reach: {reason}"
        return EnvironmentTrouble(TroubleKind.UNREACHABLE, f"{what} Check the network and run it again.")
    if build.locked:
        see = f"{FILE} says what may be: recompat lock --torch {build.release} writes it anew. {see}"
    return EnvironmentTrouble(TroubleKind.INSTALL_FAILED, f"torch {build.release} was not installed: {reason} {see}")


def reason_of(said: str) -> str:
    """What uv says at the end: its first and its last reason, on one line and without the address of any index."""
    reasons = list(_reasons(said))
    text = ": ".join(dict.fromkeys([*reasons[:1], *reasons[-1:]]))
    text = re.sub(r"(?:https?|file)://\S*?([^/\s#]*)(?:#[^\s`)]*)?(?=[\s`)]|$)", r"\1", text)
    return (text[:400] or "uv gave no reason").rstrip(".") + "."


def _reasons(said: str) -> Iterator[str]:
    """The paragraphs that begin with a mark, whose lines uv may have wrapped."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\S)|\n(?=" + REASON.pattern + ")", said):
        if REASON.match(paragraph):
            yield " ".join(REASON.sub("", paragraph, count=1).split()).rstrip(":")
