"""What a package index or a wheel folder offers of torch, read once per run."""

from __future__ import annotations

import datetime as dt
import logging
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from recompat.tools import uv_binary
from recompat.versions import Offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from packaging.tags import Tag
    from unearth import Link

__all__ = [
    "CHECK_SECONDS",
    "Offer",
    "Unreachable",
    "default_indexes",
    "is_index_url",
    "offered",
    "offers_of_folder",
    "offers_of_index",
    "reachable",
    "without_login",
]

for _talker in ("httpcore2", "httpx2", "unearth"):  # nox sets every logger to DEBUG
    logging.getLogger(_talker).setLevel(logging.WARNING)

T = TypeVar("T")

CHECK_SECONDS = 3.0
LIST_SECONDS = 60.0
SHA256 = re.compile(r"[0-9a-f]{64}")


class Unreachable(Exception):
    """The index did not answer, or not with a list; the message says which and what it answered."""


class Offer(msgspec.Struct, frozen=True):
    """A torch wheel that can be installed; ``url`` may be a ``file:`` one.

    ``uploaded`` is when, in UTC, ISO 8601, where the index tells (PEP 700). ``index`` is the address of an index that was
    named, without a login.
    """

    filename: str
    url: str
    sha256: str | None = None
    yanked: bool = False
    uploaded: str | None = None
    index: str | None = None

    @property
    def version(self) -> Version:
        """The version with its local part, as in ``2.13.0+cpu``."""
        return parse_wheel_filename(self.filename)[1]

    @property
    def release(self) -> Version:
        """The column: the version without its local part."""
        return Version(self.version.public)

    @property
    def tags(self) -> frozenset[Tag]:
        """The wheel's compatibility tags."""
        return parse_wheel_filename(self.filename)[3]


def offered(offers: Iterable[Offer]) -> Offered:
    """What can be selected of ``offers``; a release is yanked where all its wheels are."""
    known = [(offer.release, offer.yanked) for offer in offers]
    return Offered.of((release for release, yanked in known if not yanked), (release for release, _ in known))


def without_login(url: str) -> str:
    """An address as it may be told: no login, and nothing behind the path, where tokens are."""
    scheme, mark, rest = url.partition("://") if "://" in url else ("", "", url)
    return scheme + mark + re.split("[?#]", rest.rpartition("@")[2], maxsplit=1)[0].rstrip("/")


def is_index_url(url: str) -> bool:
    """Whether a text can be the address of an index that is named."""
    return re.fullmatch(r"https?://[!-~]+", url) is not None


def default_indexes() -> tuple[str, ...]:
    """The index URLs that uv is configured to install from, most preferred first, as uv itself says."""
    asked = ["pip", "compile", "--quiet", "--offline", "--emit-index-url", "--python", sys.executable, "-"]
    done = subprocess.run(
        [uv_binary(), *asked], input="", capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    extra = re.findall(r"^--extra-index-url (\S+)", done.stdout, re.MULTILINE)
    main = re.findall(r"^--index-url (\S+)", done.stdout, re.MULTILINE)
    return (*extra, *main)


def offers_of_folder(folder: Path) -> tuple[Offer, ...]:
    """The torch wheels in a local folder, which need not exist."""
    paths = sorted(folder.glob("torch-*.whl")) if folder.is_dir() else []
    return tuple(Offer(path.name, path.resolve().as_uri()) for path in paths if _is_wheel(path.name))


def reachable(url: str, seconds: float = CHECK_SECONDS) -> bool:
    """Whether an index answers at all, known within ``seconds`` whatever the network does (looking up a name included)."""
    if Path(url).is_dir():
        return True
    return _within(seconds, lambda: _ask(url, seconds)) is True


def offers_of_index(url: str) -> tuple[Offer, ...]:
    """Every torch wheel that the index at ``url`` lists, yanked ones included.

    Raises:
        Unreachable: it did not answer in time, answered with an error, or lists no torch.
    """
    offers = _within(LIST_SECONDS, lambda: _listed(url))
    if offers is None:
        raise Unreachable(f"the index {url} did not send its list within {LIST_SECONDS:g} s")
    if isinstance(offers, Unreachable):
        raise offers
    if not offers:
        raise Unreachable(f"the index {url} lists no torch wheel")
    return offers


def _listed(url: str) -> tuple[Offer, ...] | Unreachable:
    import httpx2
    from unearth import PackageFinder
    from unearth.fetchers.sync import PyPIClient

    def refuse(response: httpx2.Response) -> None:
        response.raise_for_status()

    # A client of our own: unearth's takes an error page for an index that offers nothing.
    with PyPIClient(timeout=LIST_SECONDS, event_hooks={"response": [refuse]}, follow_redirects=True) as client:
        finder = PackageFinder(cast("Any", client), index_urls=[url], ignore_compatibility=True, only_binary=["torch"])
        try:
            links = [package.link for package in finder.find_all_packages("torch", allow_yanked=True)]
        except httpx2.HTTPStatusError as error:
            return Unreachable(f"the index {url} answered {error.response.status_code}")
        except httpx2.HTTPError as error:
            return Unreachable(f"the index {url} is out of reach ({error})")
        except Exception as error:  # noqa: BLE001 - unearth takes the shape of an answer for granted
            return Unreachable(f"the index {url} answered with something that is no list ({type(error).__name__})")
    return tuple(_offer(link) for link in links if _is_wheel(link.filename))


def _offer(link: Link) -> Offer:
    """Read a link of PEP 691 or 503; the one has digests beside the address, the other has one within it."""
    hashes = link.hash_option or {}
    time = link.upload_time
    return Offer(
        filename=link.filename,
        url=link.url_without_fragment,
        sha256=next(filter(SHA256.fullmatch, map(str.lower, hashes.get("sha256", ()))), None),
        yanked=link.is_yanked,
        uploaded=time.astimezone(dt.UTC).isoformat(timespec="seconds") if time else None,
    )


def _ask(url: str, seconds: float) -> bool:
    import httpx2

    try:
        answer = httpx2.head(f"{url.rstrip('/')}/torch/", timeout=seconds, follow_redirects=True)
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return False
    return answer.status_code < 500


def _within(seconds: float, task: Callable[[], T]) -> T | None:
    """What ``task`` returns, or None if that takes too long: a time limit of its own is one per read, not one for all."""
    answer: list[T] = []
    thread = threading.Thread(target=lambda: answer.append(task()), daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else None


def _is_wheel(filename: str) -> bool:
    try:
        parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return False
    return True
