"""``[[axis]]`` of ``matrix.toml``: packages that cases are run beside, one version at a time."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import Version

from recompat.errors import ConfigurationError, NothingSelected
from recompat.tables import Row
from recompat.tracks import is_plain
from recompat.versions import covers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    from recompat.tracks import Beside

__all__ = ["Axes", "Axis", "axes_of", "fits", "products", "select_versions"]

Axes = dict[str, tuple[Version, ...]]
"""The versions of each package, oldest first, by its normal name."""


class Axis(Row, frozen=True):
    """A package, and the versions of it that every release of torch is run with."""

    name: str
    versions: tuple[Version, ...]

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find what is no package, torch itself, and versions that are none, the same, or of a build."""
        try:
            if canonicalize_name(self.name, validate=True) == "torch":
                yield "name", "is torch, whose releases are chosen under [torch]; name another package."
        except InvalidName:
            yield "name", f'is {self.name!r}; write the name of a package such as "transformers".'
        if not self.versions:
            yield "versions", 'is empty; list at least one, such as "4.57.1".'
        for version, count in Counter(self.versions).items():
            if count > 1:
                yield "versions", f"has {version} {count} times; keep one."
            if not is_plain(str(version)):
                yield (
                    "versions",
                    f"has {version}; write a version without epoch and build, such as {version.base_version}.",
                )


def axes_of(rows: Sequence[Axis]) -> Axes:
    """The axes of a file without faults."""
    return {str(canonicalize_name(row.name)): tuple(sorted(row.versions)) for row in rows}


def products(axes: Mapping[str, Sequence[Version]]) -> tuple[Beside, ...]:
    """All that may stand beside a release: each version of each package with each of the others."""
    sides = ([(name, str(version)) for version in versions] for name, versions in sorted(axes.items()))
    return tuple(itertools.product(*sides))


def fits(beside: Mapping[str, str], selectors: Iterable[Requirement]) -> bool:
    """Whether what stands beside torch is what selectors name, if they name anything; those of one package add up."""
    ranges: dict[str, list[SpecifierSet]] = {}
    for selector in selectors:
        ranges.setdefault(str(canonicalize_name(selector.name)), []).append(selector.specifier)
    return all(
        name in beside and any(covers(wanted, Version(beside[name])) for wanted in held)
        for name, held in ranges.items()
    )


def select_versions(axes: Axes, selectors: Sequence[Requirement]) -> Axes:
    """The versions that ``--axis`` chooses; of an axis that no selector names, all.

    Raises:
        ConfigurationError: a selector names no axis.
        NothingSelected: it matches no version; the message lists what there is.
    """
    chosen: dict[str, set[Version]] = {}
    for selector in selectors:
        name = str(canonicalize_name(selector.name))
        if name not in axes:
            there = f"there is {', '.join(axes)}" if axes else "matrix.toml has none; add an [[axis]]"
            raise ConfigurationError(f"--axis {selector} names no axis; {there}.")
        found = {version for version in axes[name] if covers(selector.specifier, version)}
        if not found:
            raise NothingSelected(
                f"No version matches --axis {selector}. There are: {', '.join(map(str, axes[name]))}."
            )
        chosen.setdefault(name, set()).update(found)
    return {name: tuple(sorted(chosen.get(name, versions))) for name, versions in axes.items()}
