"""``matrix/matrix.toml``: which releases are run, where their wheels come from, and what is installed beside them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from recompat.axes import Axes, Axis, axes_of
from recompat.index import is_index_url, without_login
from recompat.memory import memory_size
from recompat.runners import DEFAULT_OS, known_os, known_python, running_python
from recompat.tables import Row, read_file
from recompat.versions import covers

__all__ = ["Ci", "Default", "Extra", "Matrix", "load_matrix"]

DAY = 86_400


class Extra(Row, frozen=True):
    """Packages that some releases of torch need beside them, and why."""

    torch: SpecifierSet
    packages: tuple[Requirement, ...]
    reason: str

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find an extra that adds nothing, that says no reason, or that would choose the release of torch itself."""
        if not self.packages:
            yield "packages", 'is empty; name a package such as "numpy<2", or remove the row.'
        if any(canonicalize_name(package.name) == "torch" for package in self.packages):
            yield "packages", "names torch itself; releases are chosen under [torch] alone."
        if not self.reason.strip():
            yield "reason", "is empty; say why these releases need the packages."


class _Torch(Row, frozen=True):
    default: tuple[Version, ...]
    known: tuple[Version, ...] = ()

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        if not self.default:
            yield "default", 'is empty; list at least one release, such as "2.11.0".'
        releases = [*self.default, *self.known]
        for version, count in Counter(releases).items():
            if count > 1:
                yield "default", f"and known name the release {version} {count} times; keep one."
        for version in releases:
            if version.local:
                yield "default", f"or known name the build {version}; write the release {version.public}."


class Default(Row, frozen=True):
    """Cases that run where none were asked for, and why these."""

    cases: tuple[str, ...]
    reason: str

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find a row that chooses nothing, or that says no reason."""
        if not self.cases:
            yield "cases", 'is empty; name cases such as "sdpa_policy::default_policy", or remove the row.'
        if not self.reason.strip():
            yield "reason", "is empty; say why these cases are run by default."


class _Run(Row, frozen=True, rename="kebab"):
    timeout: Annotated[float, msgspec.Meta(gt=0, le=DAY)] = 60.0
    require_hashes: bool = False
    memory: str | None = None

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        if self.memory is not None:
            try:
                memory_size(self.memory)
            except ValueError as error:
                yield "memory", f"is {error}; write one, or remove it."


class _Sources(Row, frozen=True, rename="kebab"):
    cpu_index: str = "https://download.pytorch.org/whl/cpu"
    find_links: tuple[str, ...] = ()
    index_urls: tuple[str, ...] = ()

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        if self.cpu_index.partition("://")[0] not in {"http", "https", "file"}:
            yield "cpu-index", f'is {self.cpu_index!r}; write a URL such as "https://download.pytorch.org/whl/cpu".'
        for url in self.index_urls:
            if not is_index_url(url):
                mend = 'write URLs such as "https://download.pytorch.org/whl/nightly/cpu"'
                yield "index-urls", f"names {without_login(url)!r}; {mend}."
        for link in self.find_links:
            if not _is_folder(folder / link):
                yield "find-links", f"names {link!r}, but {folder / link} is no folder; create it, or remove it here."


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long, or a place that nobody may look into
        return False


class Ci(Row, frozen=True):
    """Where ``recompat ci-matrix`` has jobs run: labels of GitHub's runners, and interpreters such as ``3.11``."""

    os: tuple[str, ...] = (DEFAULT_OS,)
    python: tuple[str, ...] = (running_python(),)

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find what is no runner, and no interpreter."""
        for key, names, known in (("os", self.os, known_os), ("python", self.python, known_python)):
            if not names:
                yield key, "is empty; name at least one, or remove it."
            for name in names:
                try:
                    known(name)
                except ValueError as error:
                    yield key, f"names {error}"


class _File(Row, frozen=True):
    torch: _Torch
    run: _Run = _Run()
    sources: _Sources = _Sources()
    extras: tuple[Extra, ...] = ()
    axis: tuple[Axis, ...] = ()
    default: tuple[Default, ...] = ()
    ci: Ci = Ci()

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        names = Counter(canonicalize_name(axis.name) for axis in self.axis)
        fixed = {canonicalize_name(package.name) for extra in self.extras for package in extra.packages}
        for name, count in names.items():
            if count > 1:
                yield "axis", f"names {name} {count} times; put all of its versions into one."
            if name in fixed:
                yield "axis", f"names {name}, which [[extras]] installs too; leave it to one of them."


class Matrix(msgspec.Struct, frozen=True):
    """What ``matrix.toml`` says. Releases are in order; ``timeout`` is in seconds, ``memory`` in bytes; folders are resolved.

    ``default_cases`` are ids, or ``file::*`` for all of a file; where there are none, every case runs by default. Each
    release is run with each version of each of ``axes``.
    """

    default: tuple[Version, ...]
    known: tuple[Version, ...]
    timeout: float
    cpu_index: str
    find_links: tuple[Path, ...]
    extras: tuple[Extra, ...]
    default_cases: tuple[str, ...] = ()
    index_urls: tuple[str, ...] = ()
    ci: Ci = Ci()
    axes: Axes = {}
    require_hashes: bool = False
    memory: int | None = None

    @property
    def releases(self) -> tuple[Version, ...]:
        """Every release that the file names, in version order: those that expectations may speak of."""
        return tuple(sorted((*self.default, *self.known)))

    def packages_for(self, version: Version) -> tuple[str, ...]:
        """Name the requirements to install beside this release of torch, in the file's order."""
        chosen = (extra for extra in self.extras if covers(extra.torch, version))
        return tuple(dict.fromkeys(str(package) for extra in chosen for package in extra.packages))


def load_matrix(path: Path) -> Matrix:
    """Read ``matrix.toml``.

    Raises:
        ConfigurationError: the file cannot be used; every fault in it is listed.
    """
    file = read_file(path, _File)
    return Matrix(
        default=tuple(sorted(file.torch.default)),
        known=tuple(sorted(file.torch.known)),
        timeout=file.run.timeout,
        cpu_index=file.sources.cpu_index,
        find_links=tuple((path.parent / link).resolve() for link in file.sources.find_links),
        extras=file.extras,
        default_cases=tuple(dict.fromkeys(case for row in file.default for case in row.cases)),
        index_urls=file.sources.index_urls,
        ci=file.ci,
        axes=axes_of(file.axis),
        require_hashes=file.run.require_hashes,
        memory=memory_size(file.run.memory) if file.run.memory else None,
    )
