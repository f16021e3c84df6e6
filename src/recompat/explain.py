"""``recompat explain``: a pasted ``CheckpointError``, what it means, and what of the library looks like it. Offline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec
from packaging.version import Version

from recompat import __version__
from recompat.alike import LEAST, Looks, likeness, looks_of, patterns_of
from recompat.cause import cause
from recompat.explanation import Alike, Explained, Explanation, Release, ReleaseFrom, Remedy
from recompat.frames import own_frames, torch_name
from recompat.lookup import records_of
from recompat.meaning import meaning_of
from recompat.model import CaseResult, Outcome, Record, Replay, Trial
from recompat.other_errors import read_others
from recompat.private import scrub
from recompat.record import releases_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from recompat.cases import Case, CaseFile
    from recompat.explanation import Frame, Message, Other, Where

__all__ = ["Library", "explain"]

NAMED = re.compile(
    r"(?<![\w-])(?:py)?torch(?:\.__version__|[ _-]version)?(?:is|==?|[\s:/='\"_-]){0,4}v?"
    r"([1-9]\.[0-9]{1,2}(?:\.[0-9]{1,2})?(?:(?:rc|\.dev|\.post)[0-9]{1,8})?)(?![0-9])",
    re.IGNORECASE,
)
MOST_EXPLAINED: Final = 20
MOST_ALIKE: Final = 10


class Seen(msgspec.Struct, frozen=True):
    """A case on a release, by the trial that gives the outcome; ``records`` is what ``--records`` has to name."""

    trial: Trial
    records: str | None


class Known(msgspec.Struct, frozen=True):
    """A message with which a case once ended, and where."""

    record: Record
    result: CaseResult
    trial: Trial
    looks: Looks


class Library:
    """The cases that there are and what is recorded of them, so far as their files are still the same bytes.

    Args:
        files: the case files.
        recorded: records by the folder that ``--records`` has to name, None where it need not. Of a release that is
            recorded several times, the first counts that tells of a case.
    """

    def __init__(
        self, files: Sequence[CaseFile] = (), recorded: Mapping[str | None, Sequence[Record]] | None = None
    ) -> None:
        self.cases = {case.id: case for file in files for case in file.cases}
        held = [(record, folder) for folder, records in (recorded or {}).items() for record in records]
        self._held = sorted(held, key=lambda pair: Version(pair[0].environment.torch), reverse=True)
        self.records = [record for record, _ in self._held]
        self._sha256 = {case.id: file.sha256 for file in files for case in file.cases}
        self._known = list(self._messages())

    def alike(self, message: Message, release: str | None) -> Iterator[tuple[Known, list[tuple[int, str]]]]:
        """The message of each case that is most like this one, with the reasons; the case that is most alike first.

        Of those that are equally alike, the ones that raise on the release stand first.
        """
        frames = [torch_name(frame) or frame.name for frame in message.frames]
        pasted = looks_of(message.disagreement, message.mismatches, frames, {*message.forward, *message.recompute})
        best: dict[str, tuple[tuple[int, bool], Known, list[tuple[int, str]]]] = {}
        for known in self._known:
            reasons = likeness(pasted, known.looks, known.result.case)
            total = sum(points for points, _ in reasons)
            score = (total, known.record.environment.torch == release)
            if total >= LEAST and (known.result.case not in best or score > best[known.result.case][0]):
                best[known.result.case] = score, known, reasons

        def order(case: str) -> tuple[int, bool, bool, str]:
            seen = self.seen(case, release) if release else None
            raises = seen is not None and seen.trial.outcome is Outcome.RAISES
            return -best[case][0][0], not raises, not self.repairs(case), case

        return (best[case][1:] for case in sorted(best, key=order))

    def repairs(self, case: str) -> list[Case]:
        """The cases that stand beside a broken one as its repairs."""
        return [other for other in self.cases.values() if case in other.about.repairs]

    def seen(self, case: str, release: str) -> Seen | None:
        """How a case ended on a release; None where it was not run."""
        for record, folder in self._held:
            if record.environment.torch == release:
                result = next((result for result in record.results if result.case == case), None)
                if result is not None and self._counts(result) and Replay.COLD in result.trials:
                    return Seen(result.trials[Replay.COLD], folder)
        return None

    def fitting(self, frames: Iterable[Frame]) -> tuple[str, ...]:
        """The releases in whose recorded tracebacks all lines of torch are that these frames share with any of them."""
        names = {name for frame in frames if (name := torch_name(frame))}
        seen: dict[str, set[str]] = {}
        for known in self._known:
            raised = known.trial.raised
            for name in names.intersection(raised.frames if raised else ()):
                seen.setdefault(name, set()).add(known.record.environment.torch)
        return tuple(sorted(set.intersection(*seen.values()), key=Version)) if seen else ()

    def _messages(self) -> Iterator[Known]:
        for record in self.records:
            for result in record.results:
                if self._counts(result):
                    yield from _messages_of(record, result)

    def _counts(self, result: CaseResult) -> bool:
        return self._sha256.get(result.case) == result.sha256


def explain(messages: Sequence[Message], text: str, library: Library, torch: str | None = None) -> Explanation:
    """Say what messages mean, and what other errors of the text do.

    Args:
        messages: those that were read from ``text``.
        text: what was pasted, which may name a release too.
        library: what is known.
        torch: the release that was asked for.

    Raises:
        NothingSelected: that release is not recorded.
    """
    release = _release(messages, text, library, torch)
    return Explanation(
        recompat=__version__,
        release=release,
        explained=tuple(_explained(message, library, release) for message in messages[:MOST_EXPLAINED]),
        more=max(len(messages) - MOST_EXPLAINED, 0),
        others=tuple(map(_told, read_others(text))),
    )


def _messages_of(record: Record, result: CaseResult) -> Iterator[Known]:
    told = []
    for trial in result.trials.values():
        raised = trial.raised
        if raised is not None and raised.disagreement is not None:
            looks = looks_of(raised.disagreement, raised.mismatches, raised.frames, _logged(trial))
            if looks not in told:
                told.append(looks)
                yield Known(record, result, trial, looks)


def _logged(trial: Trial) -> set[str]:
    return set(re.findall(r"torch\._ops\.([a-z_]\w*\.\w+)\.", trial.raised.message)) if trial.raised else set()


def _release(messages: Sequence[Message], text: str, library: Library, torch: str | None) -> Release | None:
    """Choose the release of which repairs are told: what was asked for, else what the text tells, else the newest."""
    if torch is not None:
        return Release(records_of(library.records, torch)[0].environment.torch, ReleaseFrom.ASKED)
    recorded = {release: str(release) for release in sorted(releases_of(library.records))}
    if not recorded:
        return None
    named = tuple(dict.fromkeys(NAMED.findall(text)))
    there = [recorded[Version(name)] for name in named if Version(name) in recorded]
    if there:
        return Release(there[0], ReleaseFrom.NAMED, named)
    fitting = () if named else library.fitting(frame for message in messages for frame in message.frames)
    if fitting:
        return Release(fitting[-1], ReleaseFrom.LINES, fitting)
    return Release(list(recorded.values())[-1], ReleaseFrom.NEWEST, named)


def _explained(message: Message, library: Library, release: Release | None) -> Explained:
    patterns = patterns_of(message.disagreement, message.mismatches)
    found = [
        found
        for _, found in zip(range(MOST_ALIKE), library.alike(message, release.torch if release else None), strict=False)
    ]
    shown = msgspec.structs.replace(message, frames=tuple(map(_shown, message.frames)))
    return Explained(
        message=shown,
        meaning=meaning_of(message, patterns),
        patterns=patterns,
        own=_own(own_frames(message.frames)),
        alike=tuple(_alike(known, reasons, library, release) for known, reasons in found),
    )


def _told(other: Other) -> Other:
    return msgspec.structs.replace(other, own=_own(other.own))


def _own(frames: Mapping[Where, Frame]) -> dict[Where, Frame]:
    return {where: _shown(frame) for where, frame in frames.items()}


def _shown(frame: Frame) -> Frame:
    return msgspec.structs.replace(frame, file=scrub(frame.file), code=scrub(frame.code))


def _alike(known: Known, reasons: list[tuple[int, str]], library: Library, release: Release | None) -> Alike:
    case = library.cases[known.result.case]
    seen_on = known.record.environment.torch
    seen = None if release is None else library.seen(case.id, release.torch)
    told = seen or library.seen(case.id, seen_on)
    return Alike(
        case=case.id,
        title=case.title,
        score=sum(points for points, _ in reasons),
        reasons=tuple(reason for _, reason in reasons if reason),
        seen_on=seen_on,
        records=told.records if told else None,
        cause=cause(known.trial, known.result.evidence),
        outcome=None if seen is None else seen.trial.outcome,
        exception=seen.trial.raised.type if seen and seen.trial.raised else None,
        repairs=() if release is None else tuple(_passing(library, case.id, release.torch)),
        unrepaired=case.about.unrepaired,
    )


def _passing(library: Library, case: str, release: str) -> Iterator[Remedy]:
    for repair in library.repairs(case):
        seen = library.seen(repair.id, release)
        if seen is not None and seen.trial.outcome is Outcome.PASS:
            yield Remedy(repair.id, repair.title, seen.records)
