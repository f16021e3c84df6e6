"""Where torch wheels come from: local folders, indexes that were named, PyTorch's CPU index, the default index."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from recompat.errors import ConfigurationError
from recompat.index import (
    CHECK_SECONDS,
    Offer,
    Unreachable,
    default_indexes,
    offered,
    offers_of_folder,
    offers_of_index,
    reachable,
    without_login,
)
from recompat.interpreters import platform_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.version import Version

    from recompat.choices import SourceChoice
    from recompat.versions import Offered

__all__ = ["Source", "Sources", "configured_folders", "find_sources", "named_index", "origin"]

FORCED_SECONDS = 10.0  # that an index may take to answer which alone was asked for


class Source(StrEnum):
    """The kinds of places, in the order in which they are asked; the value is what reports say."""

    FOLDER = "wheel folder"
    NAMED = "named index"
    CPU = "CPU index"
    DEFAULT = "default index"


class Sources(msgspec.Struct, frozen=True):
    """What each source offers. ``silent`` says of each source that gave no list, or not all, why it did not."""

    offers: dict[Source, tuple[Offer, ...]]
    silent: dict[Source, str]

    @property
    def index(self) -> Source:
        """The index that is used."""
        return Source.CPU if Source.CPU in self.offers else Source.DEFAULT

    @property
    def reached(self) -> bool:
        """Whether an index gave a list: without one, a release that is not seen may exist all the same."""
        return self.index in self.offers

    @property
    def notice(self) -> str | None:
        """What to say, loudly, before anything is installed: that other builds than the CPU index's will be downloaded."""
        if Source.CPU not in self.silent or not self.reached:
            return None
        cuda = platform_id() == "linux_x86_64"
        size = "CUDA builds, about 3 GB to download and 5 GB on disk per release" if cuda else "the builds it has"
        return (
            f"{self.silent[Source.CPU]}. Wheels come from the default index instead: {size}."
            " They run on the CPU all the same, and every record says which build was tested."
        )

    @property
    def offered(self) -> Offered:
        """All that some source offers."""
        return offered(offer for offers in self.offers.values() for offer in offers)

    @property
    def releases(self) -> tuple[Version, ...]:
        """Every release that some source offers, oldest first; neither pre-releases nor yanked ones."""
        return self.offered.releases

    @property
    def listed(self) -> Offered:
        """What the index lists that is used; pre-releases are those of named indexes too.

        A release that only a named index has is not out: PyTorch's test index has candidates under their final number.
        """
        own, named = (self.offers.get(source, ()) for source in (self.index, Source.NAMED))
        return offered((*own, *(offer for offer in named if offer.release.is_prerelease)))


def origin(source: Source, offer: Offer) -> str:
    """Where a wheel came from, as records say it."""
    return f"{source} {offer.index}" if source is Source.NAMED else str(source)


def named_index(origin: str) -> str | None:
    """The address of the named index that a record says a wheel came from."""
    kind, _, address = origin.partition(f"{Source.NAMED} ")
    return address if address and not kind else None


def find_sources(
    choice: SourceChoice, folders: Iterable[Path], cpu_index: str, index_urls: Iterable[str] = ()
) -> Sources:
    """Ask each source once what it offers.

    The default index is asked only where the CPU index is not used: uv takes torch from one of them.

    Args:
        choice: ``cpu`` or ``default`` forces that index; ``auto`` takes the CPU index if it answers within 3 seconds, and
            ``cpu`` waits for it a little longer.
        folders: local wheel folders, most preferred first.
        cpu_index: the URL of PyTorch's CPU index.
        index_urls: further indexes, most preferred first.

    Raises:
        ConfigurationError: ``cpu`` was forced and that index is out of reach.
    """
    offers = {Source.FOLDER: tuple(offer for folder in folders for offer in offers_of_folder(folder))}
    silent: dict[Source, str] = {}
    _ask_named(dict.fromkeys(index_urls), offers, silent)
    if choice != "default":
        if reachable(cpu_index, FORCED_SECONDS if choice == "cpu" else CHECK_SECONDS):
            _ask(Source.CPU, [cpu_index], offers, silent)
        else:
            silent[Source.CPU] = "PyTorch's CPU index is out of reach"
    if choice == "cpu" and Source.CPU in silent:
        raise ConfigurationError(f"--source cpu: {silent[Source.CPU]}; use --source default, or try again later.")
    if Source.CPU not in offers:
        urls = default_indexes()
        _ask(Source.DEFAULT, urls, offers, silent)
        if not urls:
            silent[Source.DEFAULT] = "uv names no index to install from"
    return Sources(offers, silent)


def configured_folders(more: Iterable[Path] = ()) -> list[Path]:
    """Local wheel folders: ``more``, then those of uv's setting (``UV_FIND_LINKS``) and of pip's (``find-links``)."""
    named = [*os.environ.get("UV_FIND_LINKS", "").split(","), *_pip_find_links()]
    folders = [*more, *(Path(name.removeprefix("file://")) for name in named if name and not name.startswith("http"))]
    return list(dict.fromkeys(folder.expanduser().resolve() for folder in folders))


def _ask_named(urls: Iterable[str], offers: dict[Source, tuple[Offer, ...]], silent: dict[Source, str]) -> None:
    """Ask every named index: unlike the others, none stands in for another one."""
    found: list[Offer] = []
    failed: list[str] = []
    for url in urls:
        told = without_login(url)
        try:
            if not reachable(url):
                raise Unreachable(f"the index {url} is out of reach")
            found += (msgspec.structs.replace(offer, index=told) for offer in offers_of_index(url))
        except Unreachable as error:
            failed.append(str(error).replace(f"the index {url}", f"the named index {told}"))
    if found:
        offers[Source.NAMED] = tuple(found)
    if failed:
        silent[Source.NAMED] = "; ".join(failed)


def _ask(
    source: Source, urls: Iterable[str], offers: dict[Source, tuple[Offer, ...]], silent: dict[Source, str]
) -> None:
    name = {Source.CPU: "PyTorch's CPU index", Source.DEFAULT: "the default index"}[source]
    for url in urls:
        try:
            offers[source] = offers_of_index(url)
        except Unreachable as error:
            silent.setdefault(source, str(error).replace(f"the index {url}", name))
        else:
            silent.pop(source, None)
            return


def _pip_find_links() -> list[str]:
    pip = shutil.which("pip") or shutil.which("pip3")
    if pip is None:
        return []
    try:
        done = subprocess.run([pip, "config", "list"], capture_output=True, check=False, timeout=30)
        told = done.stdout.decode("utf-8", "surrogateescape")
        values = re.findall(r"^\S*find-links=('.*'|\".*\")$", told, re.MULTILINE)
        return [word for value in values for word in str(ast.literal_eval(value)).split()]
    except (OSError, subprocess.TimeoutExpired, ValueError, SyntaxError):  # a pip that does not work has no setting
        return []
