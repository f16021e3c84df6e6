"""From a search that is done to what is told of it: the two sides of each change, drawn from their records."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import Requirement
from packaging.version import Version

from recompat import __version__, compare
from recompat.bisection import Bisection, Side, Silent, Tried, Turn
from recompat.clock import now
from recompat.diff import Part
from recompat.errors import RecompatError
from recompat.interpreters import platform_id, running
from recompat.judging import judged
from recompat.report.text import visible
from recompat.reproduce import find_reproduction
from recompat.search import Answer, Skipped, changes
from recompat.show import read_known
from recompat.sources import Source
from recompat.standing import record_of
from recompat.tracks import Target
from recompat.wheels import EnvironmentTrouble, choose_wheel

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from recompat.cases import CaseFile
    from recompat.diff import Diff
    from recompat.model import Facts, Record
    from recompat.search import Change, Found
    from recompat.show import Known
    from recompat.span import Span

__all__ = ["commands", "made", "source"]

LONGEST_SOURCE = 20_000  # bytes
BESIDE = (Part.SETTINGS, Part.OPERATORS, Part.WARNINGS)  # the cells tell the rest


def made(
    span: Span, found: Mapping[Version, Found], *, recorded: Collection[Version], installed: Collection[Version]
) -> Bisection:
    """Tell what a search found.

    Args:
        span: what was searched.
        found: what is known at its end.
        recorded: the releases that were known before it.
        installed: those for which an environment was built.
    """
    known = read_known(span.setup.project)
    return Bisection(
        recompat=__version__,
        generated=now(),
        case=span.case.id,
        title=span.case.title,
        file=span.file.path.name,
        sha256=span.file.sha256,
        aspect=span.request.aspect,
        platform=platform_id(),
        beside=dict(span.beside) or msgspec.UNSET,
        start=str(span.releases[0]),
        end=str(span.releases[-1]),
        releases=len(span.releases),
        tried=tuple(
            Tried(
                torch=str(release),
                answer=one.text if isinstance(one, Answer) else None,
                skipped=one.reason if isinstance(one, Skipped) else None,
                recorded=release in recorded,
                installed=release in installed,
            )
            for release, one in sorted(found.items())
        ),
        turns=tuple(_turn(span, known, change, found) for change in changes(span.releases, found)),
        listed=span.listed,
        elsewhere=tuple((str(last), str(first)) for last, first in span.elsewhere),
        source=source(span.file),
    )


def _turn(span: Span, known: Known, change: Change, found: Mapping[Version, Found]) -> Turn:
    both = [_record(known, Target(release, span.beside)) for release in (change.last, change.first)]
    setup = span.setup
    summary = judged(setup.project, setup.matrix, setup.files, setup.cases, both, known.records)
    last, first = (
        Side(
            column=column,
            cell=cell,
            **_wheel(span, record),
            commands=commands(
                span.case.id, known, column.torch, Target(Version(column.torch), span.beside).requirements
            ),
        )
        for column, cell, record in zip(summary.environments, summary.cells, both, strict=True)
    )
    return Turn(
        old=change.old.text,
        new=change.new.text,
        last=last,
        first=first,
        between=tuple(_between(span, change, found)),
        diff=_diff(span, *both),
    )


def _diff(span: Span, last: Record, first: Record) -> Diff:
    one, other = (compare.Side(record.environment.torch, (record,), chosen=True) for record in (last, first))
    observing = [span.case.id] if span.case.about.observes_warnings else []
    return compare.diff(one, other, BESIDE, cases=[span.case.id], observing=observing)


def _record(known: Known, target: Target) -> Record:
    found = record_of(known.records, target, running(), platform_id())
    assert found is not None, target
    return found


def _between(span: Span, change: Change, found: Mapping[Version, Found]) -> Iterator[Silent]:
    """The releases between that say nothing, and those that were left out since they are yanked."""
    silent = {release: found[release] for release in change.between}
    yanked = {release for release in span.offered.yanked if change.last < release < change.first}
    for release in sorted(silent.keys() | yanked):
        one = silent.get(release)
        if isinstance(one, Skipped):
            yield Silent(str(release), one.reason, one.trouble)
        elif one is None and (not release.is_prerelease or change.last.is_prerelease or change.first.is_prerelease):
            yield Silent(str(release), "it is yanked, and was left out")


def _wheel(span: Span, record: Record) -> dict[str, str | None]:
    """The file that was tested, if what is offered now is of the same build, from the same place."""
    facts = record.facts
    with contextlib.suppress(EnvironmentTrouble):
        wheel = choose_wheel(Version(record.environment.torch), span.sources)
        same = facts is not None and (str(wheel.offer.version), wheel.origin) == (_build(facts), facts.source)
        if same and wheel.python == record.environment.python:
            return {"wheel": wheel.offer.filename, "wheel_sha256": wheel.offer.sha256}
    return {}


def _build(facts: Facts) -> str:
    return facts.packages.get("torch", facts.imported)


def commands(case: str, known: Known, torch: str, beside: Iterable[str] = ()) -> tuple[str, ...]:
    """What runs it again, for those who read this elsewhere: they have no wheel folder of ours."""
    with contextlib.suppress(RecompatError):  # then there is nothing to reproduce it with
        found = find_reproduction(known, case, torch, None, tuple(map(Requirement, beside)))
        if found.facts.source == Source.FOLDER:
            found = msgspec.structs.replace(found, facts=msgspec.structs.replace(found.facts, source=Source.CPU))
        return tuple(found.commands.splitlines())
    return ()


def source(file: CaseFile) -> str | None:
    """The case file, to be read by people who have nothing else of it."""
    content = file.path.read_bytes()
    if len(content) > LONGEST_SOURCE or hashlib.sha256(content).hexdigest() != file.sha256:
        return None
    text = content.decode("utf-8", "replace")
    seen = all(visible(line) == line for line in text.expandtabs(4).split("\n"))
    return text if seen and text.encode() == content else None
