"""``matrix/expectations.toml``: what each case is claimed to do on which releases, and why.

A claim that could never be held against a cell (an unknown case, a range without a release, two ranges that speak of the
same release) is an error and not a warning, so that the file cannot rot.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from recompat.cases import CaseFile
from recompat.model import Outcome
from recompat.tables import Faults, Row, close_to, read_row, read_toml
from recompat.versions import covers

__all__ = ["Expectation", "Expectations", "load_expectations"]


class Expectation(Row, frozen=True):
    """A hand-reviewed claim: on the releases ``torch``, a case ends with ``outcome``.

    ``exception`` is a qualified type, such as ``builtins.IndexError``. ``warns`` are the categories of the warnings that
    the case gives and its reference does not, each a qualified type; without it, warnings are no part of the claim.
    """

    torch: SpecifierSet
    outcome: Outcome
    reason: str
    exception: str | None = None
    link: str | None = None
    warns: tuple[str, ...] | None = None

    def covers(self, version: Version) -> bool:
        """Whether the claim speaks of this release; a pre-release counts as the one that it leads to."""
        return covers(self.torch, version)

    def problems(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Find a claim that names no exception or a bare one, that says no reason, or whose link is not one."""
        if self.outcome is Outcome.NOT_RUN:
            yield "outcome", "is not-run, which claims nothing about torch; remove the row."
        if self.outcome is Outcome.RAISES and self.exception is None:
            yield "exception", 'is missing; add the qualified type, such as "builtins.RuntimeError".'
        if self.outcome not in {Outcome.RAISES, Outcome.MOOT} and self.exception is not None:
            yield "exception", f"goes with raises and moot, and the outcome is {self.outcome}; remove one."
        if self.exception is not None and not _is_qualified(self.exception):
            yield "exception", f'is {self.exception!r}; write the qualified type, such as "builtins.RuntimeError".'
        for category in self.warns or ():
            if not _is_qualified(category):
                yield "warns", f'names {category!r}; write the qualified type, such as "builtins.UserWarning".'
        if not self.reason.strip():
            yield "reason", "is empty; say what in torch makes it so."
        if self.link is not None and not _is_web_address(self.link):
            yield "link", f"is {self.link!r}; write an http or https URL."


class Expectations(msgspec.Struct, frozen=True):
    """All claims, by the id of their case."""

    by_case: dict[str, tuple[Expectation, ...]]

    def for_(self, case_id: str, version: Version) -> Expectation | None:
        """Find the claim for a case on a release, if there is one; there are never two."""
        return next((claim for claim in self.by_case.get(case_id, ()) if claim.covers(version)), None)


def load_expectations(path: Path, files: Sequence[CaseFile], releases: Collection[Version]) -> Expectations:
    """Read ``expectations.toml``.

    Args:
        files: all case files, selected or not. A case of a file whose cases cannot be told counts as known.
        releases: those that a claim may speak of; a claim for none of them is a fault.

    Raises:
        ConfigurationError: the file cannot be used; every fault in it is listed.
    """
    faults = Faults(path)
    observing = {case.id: case.about.observes_warnings for file in files for case in file.cases}
    known = observing.keys()
    by_case: dict[str, tuple[Expectation, ...]] = {}
    for case_id, where, rows in _tables(read_toml(path), faults):
        if case_id not in known and f"{case_id.partition('::')[0]}::*" not in known:
            faults.add(where, f"names no case; {close_to(case_id, known)}")
        claims = {
            number: read_row(row, Expectation, f"{where} #{number}", faults) for number, row in enumerate(rows, 1)
        }
        sound = {number: claim for number, claim in claims.items() if claim is not None}
        _check_ranges(where, sound, releases, faults)
        if observing.get(case_id):
            _check_warns(where, sound, faults)
        by_case[case_id] = tuple(sound.values())
    if faults.found:
        raise faults.error()
    return Expectations(by_case)


def _tables(document: dict[str, object], faults: Faults) -> Iterator[tuple[str, str, list[object]]]:
    """Go through the arrays of tables: the id of a case, how the file names it, and its rows."""
    for stem, cases in document.items():
        if not isinstance(cases, dict):
            faults.add(f"[{stem}]", f"is no table of cases; write [[{stem}.case]].")
            continue
        for name, rows in cases.items():
            if isinstance(rows, list):
                yield f"{stem}::{name}", f"[[{stem}.{name}]]", rows
            else:
                faults.add(f"[{stem}.{name}]", f"is no list of claims; write [[{stem}.{name}]], with two brackets.")


def _check_ranges(where: str, claims: dict[int, Expectation], releases: Collection[Version], faults: Faults) -> None:
    for number, claim in claims.items():
        if not any(claim.covers(version) for version in releases):
            listed = ", ".join(str(version) for version in sorted(releases)) or "none"
            faults.add(f"{where} #{number} torch", f"{str(claim.torch)!r} matches no release; there is {listed}.")
    for (one, first), (other, second) in combinations(claims.items(), 2):
        candidates = [*sorted(releases), *sorted({*_neighbours(first.torch), *_neighbours(second.torch)})]
        both = next((version for version in candidates if first.covers(version) and second.covers(version)), None)
        if both is not None:
            faults.add(f"{where} #{one} and #{other} torch", f"both cover {both}; narrow one of them.")


def _check_warns(where: str, claims: dict[int, Expectation], faults: Faults) -> None:
    """A case whose warnings are part of its result needs to be told which are expected."""
    for number, claim in claims.items():
        if claim.warns is None and claim.outcome in {Outcome.PASS, Outcome.RAISES, Outcome.DIFFERS}:
            mend = 'add warns = [], or the qualified types such as "builtins.UserWarning"'
            faults.add(f"{where} #{number} warns", f"is missing, and the case observes warnings; {mend}.")


def _neighbours(specifiers: SpecifierSet) -> Iterator[Version]:
    """Where ranges begin and end: the versions that they name, and the patch after each."""
    for specifier in specifiers:
        try:
            version = Version(specifier.version.removesuffix(".*"))
        except InvalidVersion:  # only `===` may name something else
            continue
        yield version
        yield Version(f"{version.major}.{version.minor}.{version.micro + 1}")


def _is_qualified(name: str) -> bool:
    parts = name.split(".")
    return len(parts) > 1 and all(part.isidentifier() or part == "<locals>" for part in parts)


def _is_web_address(link: str) -> bool:
    scheme, _, rest = link.partition("://")
    return scheme in {"http", "https"} and bool(rest.strip("/")) and not any(c.isspace() or c in "<>" for c in link)
