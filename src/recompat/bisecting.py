"""``recompat bisect``: finds the releases where a case changes, over wheels; what it runs goes into the same records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recompat.console import tell
from recompat.environment import drop_unused_environment
from recompat.errors import Incomplete, NothingSelected
from recompat.model import TroubleKind
from recompat.progress import Progress
from recompat.report.bisect_told import says_nothing
from recompat.report.notes import counted
from recompat.report.text import clean
from recompat.search import Answer, Found, Skipped, changes, next_release, outstanding
from recompat.span import Request, Span
from recompat.tracks import Target
from recompat.turns import made
from recompat.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from packaging.version import Version

    from recompat.bisection import Bisection
    from recompat.project import Project
    from recompat.run_folder import RunFolder

__all__ = ["Request", "bisect"]

OF_THE_MACHINE = {TroubleKind.UNREACHABLE, TroubleKind.DISK_FULL}


def bisect(project: Project, run: RunFolder, request: Request, say: Callable[[str], None], *, shows: bool) -> Bisection:
    """Ask one release after the other until nothing is left to ask.

    Args:
        project: where the cases and the records are.
        run: what this run shares with others in the checkout.
        request: what was asked for.
        say: told what each step found.
        shows: whether the steps of each release may be drawn on the output.

    Raises:
        ConfigurationError: a file that cannot be used, or a case that may be several.
        Incomplete: trouble with this machine, or no release says anything.
        Interrupted: by Ctrl-C or SIGTERM.
        NothingSelected: there is no such case or release, or both ends do the same.
    """
    span = Span(project, run, request)
    trying = _Trying(span, run, shows=shows)
    found = {} if request.verify else span.recorded
    recorded = {*found}
    say(_beginning(span, found))
    while (release := next_release(span.releases, found)) is not None:
        found[release] = trying.attempt(release)
        say(_step(span, found, release))
    if not changes(span.releases, found):
        raise _nothing(span, found)
    return made(span, found, recorded=recorded, installed=trying.installed)


class _Trying:
    """Runs releases, each in an environment of its own that is dropped afterwards; ``installed`` are those that got one."""

    def __init__(self, span: Span, run: RunFolder, *, shows: bool) -> None:
        self._span = span
        self._run = run
        self._shows = shows
        self._folder: Path | None = None
        self.installed: set[Version] = set()

    def attempt(self, release: Version) -> Found:
        """Bring the record of a release up to date.

        Raises:
            Incomplete: trouble with this machine: the next release would meet it too.
        """
        if self._folder is None:
            self._folder = self._begin()
        progress = Progress(f"torch {release}", quiet=not self._shows)
        work = Work(self._span.setup, Target(release, self._span.beside), self._folder / str(release), progress)
        record = work.run(lambda: self._span.sources, self._announce)
        if "installing" in progress.seconds:
            self.installed.add(release)
        trouble = work.kept or record.trouble
        if trouble is not None and trouble.kind in OF_THE_MACHINE:
            raise Incomplete(f"{clean(trouble.reason)} What was run is recorded; the same command goes on from there.")
        return Skipped(work.kept.reason, trouble=True) if work.kept else self._span.answer(record)

    def _begin(self) -> Path:
        """Keep other runs out, and drop what a run that was killed left half done."""
        nox = self._span.setup.project.root / ".nox"
        folder = nox / "bisect"
        folder.mkdir(parents=True, exist_ok=True)
        waiting = "another run is at work in this checkout{}; waiting for its end."
        self._run.hold(nox / "recompat.lock", lambda who: tell(waiting.format(who)))
        for left in folder.iterdir():
            drop_unused_environment(left)
        return folder

    def _announce(self) -> None:
        notice = self._span.sources.notice
        if notice and self._run.first("said"):
            tell(f"NOTE: {notice}")


def _beginning(span: Span, found: dict[Version, Found]) -> str:
    releases = span.releases
    what = f"{clean(span.case.id)} from {releases[0]} to {releases[-1]}, by its {span.request.aspect}"
    recorded = f"{len(found)} of {len(releases)} releases are recorded"
    if next_release(releases, found) is None:
        return f"{what}: {recorded}, and they leave nothing to run (--verify runs it again)."
    return f"{what}: {recorded}."


def _step(span: Span, found: dict[Version, Found], release: Version) -> str:
    """Tell what a release did, and how much is left."""
    answer = found[release]
    text = answer.text if isinstance(answer, Answer) else says_nothing(answer.reason)
    left, steps = outstanding(span.releases, found)
    if next_release(span.releases, found) is None:
        rest = "done"
    elif not left:
        rest = "then the other end"
    else:
        rest = f"{counted(left, 'release')} left, about {counted(steps, 'step')}"
    return f"{release}  {clean(text)}  ({rest})"


def _nothing(span: Span, found: dict[Version, Found]) -> Incomplete | NothingSelected:
    answered = [(release, answer) for release, answer in sorted(found.items()) if isinstance(answer, Answer)]
    first, last = span.releases[0], span.releases[-1]
    if not answered:
        reason = next((one.reason for one in found.values() if isinstance(one, Skipped)), "there is none.")
        return Incomplete(
            f"No release from {first} to {last} says anything of {span.case.id}. {first}: {clean(reason)}"
        )
    (start, answer), (end, _) = answered[0], answered[-1]
    return NothingSelected(
        f"{span.case.id} does the same on {start} and on {end}: {clean(answer.text)}. Name two releases with --from and --to"
        f" between which it changes; recompat show {span.case.id} tells what is recorded."
    )
