"""One release of a try: an environment from wheels alone, and for a plain script a single run instead of replays."""

from __future__ import annotations

import contextlib
import functools
import math
import platform
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from packaging.specifiers import SpecifierSet

from recompat.events import ending, from_outside, log_name
from recompat.interpreters import running, supported_tags, tags_newest_first
from recompat.mismatch import parse_disagreement, parse_mismatches
from recompat.model import CaseResult, Outcome, Phase, Raised, Replay, Trial, TroubleKind, Warned
from recompat.runner import probe_folder, run_probe
from recompat.temporary import TemporaryFolder
from recompat.wheels import EnvironmentTrouble
from recompat.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from packaging.version import Version

    from recompat.model import Facts, Record
    from recompat.runner import Event, ProbeEnd, Spawn
    from recompat.sources import Sources
    from recompat.trials import CaseAddress, Job
    from recompat.wheels import Wheel

__all__ = ["CaseTry", "ScriptTry", "for_python", "run_script", "trial_of"]

T = TypeVar("T")

STACK = re.compile(r"(?m)^Current thread .*\n((?:  .*\n?)*)")
FRAME = re.compile(r'(?m)^  File "(.{1,1000})", line ([0-9]{1,9}) in (.{1,100})$')
MOST_READ = 1_000_000  # characters
MOST_PATCHES = 40  # of a minor version of Python


class CaseTry(Work):
    """A case file from elsewhere: as in the matrix, but that no package of its choice is built here.

    ``asked`` are the interpreters that it asks for; set before ``run``.
    """

    asked: SpecifierSet = SpecifierSet()

    def run(self, sources: Callable[[], Sources], announce: Callable[[], None]) -> Record:
        """Run it on an interpreter that it asks for."""
        return super().run(lambda: for_python(sources(), self._release, self.asked), announce)

    def _facts(self, job: Job, wheel: Wheel) -> Facts:
        facts = super()._facts(job, wheel)
        if not self.asked.contains(facts.python_version, prereleases=True):
            raise _no_interpreter(self.asked, f"this release ran on {facts.python_version}")
        return facts


def for_python(sources: Sources, release: Version, asked: SpecifierSet) -> Sources:
    """Leave the wheels that an interpreter takes which a file asks for.

    Raises:
        EnvironmentTrouble: there are wheels of the release, and none of them is left.
    """
    known = [tag for tag in tags_newest_first() if _meets(tag, asked)]
    tags = frozenset(tag for one in known for tag in supported_tags(one))
    offers = {
        source: tuple(offer for offer in found if not tags.isdisjoint(offer.tags))
        for source, found in sources.offers.items()
    }
    there, left = ({offer.release for found in some.values() for offer in found} for some in (sources.offers, offers))
    if release in there - left:
        raise _no_interpreter(asked, "this release has no wheel for such an interpreter on this platform")
    return msgspec.structs.replace(sources, offers=offers)


def _meets(tag: str, asked: SpecifierSet) -> bool:
    """Whether some patch of an interpreter is among those that are asked for; of the running one, its own."""
    if tag == running():
        return asked.contains(platform.python_version(), prereleases=True)
    minor = tag.removeprefix("cp3")
    return any(asked.contains(f"3.{minor}.{patch}", prereleases=True) for patch in range(MOST_PATCHES))


def _no_interpreter(asked: SpecifierSet, why: str) -> EnvironmentTrouble:
    reason = f"The file's own block asks for Python {asked}, and {why}."
    return EnvironmentTrouble(TroubleKind.NO_INTERPRETER, reason)


class ScriptTry(CaseTry):
    """A plain script: it runs once, in a process of its own. ``start`` starts it, and is set before ``run``."""

    start: Spawn

    def _trials(self, job: Job, cases: Sequence[CaseAddress]) -> tuple[CaseResult, ...]:
        (script,) = cases
        with self._progress.step("running", "the script"):
            trial = run_script(job, script.path, self.start)
        return (CaseResult(script.id, script.sha256, {Replay.COLD: trial}),)


def run_script(job: Job, script: Path, start: Spawn) -> Trial:
    """Run a copy of a script in a folder of its own, and tell how it ended; once more where another process ended it.

    Raises:
        EnvironmentTrouble: it could not be started.
    """
    log = job.log.with_name("output.log")
    ran = _run(job, script, start, log)
    if from_outside(ran.end) and not _named(ran.end, "raised"):
        ran = _run(job, script, start, log)
    if not _named(ran.end, "started"):
        reason = f"The script was not run: its process {ending(ran.end)} before. The log is {log_name(log)}."
        raise EnvironmentTrouble(TroubleKind.PROBE_FAILED, reason)
    return trial_of(ran.end, ran.seconds, job.timeout, ran.where)


class _Ran(NamedTuple):
    """How a run of a script ended, and where it was when a signal ended it."""

    end: ProbeEnd
    seconds: float
    where: str


def _run(job: Job, script: Path, start: Spawn, log: Path) -> _Ran:
    with TemporaryFolder() as folder:
        out, place = folder / "events.jsonl", folder / "work"
        place.mkdir()
        copy = Path(shutil.copyfile(script, place / script.name))
        begun = time.monotonic()
        patience = functools.partial(_patience, begun + job.timeout)
        words = [str(probe_folder()), str(copy)]
        end = run_probe(start, job.python, words, out, log, lambda _: patience(), memory=job.memory)
        seconds = round(time.monotonic() - begun, 2)
        return _Ran(end, seconds, _where(_stacks(out.with_name(f"{out.name}.stacks"), log), place))


def _patience(deadline: float) -> float:
    """Until the deadline any silence is borne, and afterwards none: the limit is on the whole run."""
    return -1.0 if time.monotonic() > deadline else math.inf


def _stacks(file: Path, log: Path) -> str:
    """Read where the threads were when a signal came, if one did, and add it to the log, where a person looks for it."""
    try:
        text = file.read_text("utf-8", "replace")[-MOST_READ:]
    except OSError:
        return ""
    if text:
        with (
            contextlib.suppress(OSError),
            log.open("a", encoding="utf-8") as printed,
        ):  # a full disk may cost us the log alone
            printed.write(text)
    return text


def _where(stacks: str, place: Path) -> str:
    """The innermost line of a file in ``place`` that ran when a signal came; nothing where that is not told."""
    for part in (*STACK.findall(stacks)[-1:], stacks):
        for file, line, function in FRAME.findall(part):
            if Path(file).parent == place:
                return f"{Path(file).name}:{line} in {function}"
    return ""


def trial_of(end: ProbeEnd, seconds: float, limit: float, where: str = "") -> Trial:
    """Tell how a script ended, as a person would who ran it: by what left it, or else by its exit status.

    Args:
        where: the line that ran when a signal ended it, if that is known.
    """
    warned = tuple(_read(event, Warned) for event in _named(end, "warned"))
    return msgspec.structs.replace(_ending(end, limit, where), seconds=seconds, warnings=tuple(filter(None, warned)))


def _ending(end: ProbeEnd, limit: float, where: str) -> Trial:
    left, hooks = _exceptions(end)
    after = f", after it raised {left.type}" if left else ", after its last line" if _named(end, "end") else ""
    if end.stalled:
        was = f"; it was at {where}" if where else ""
        return Trial(Outcome.TIMEOUT, 0.0, detail=f"did not end within {limit:g} s{after}{was}")
    if end.status < 0 and not (left and left.type == "builtins.KeyboardInterrupt"):
        return Trial(Outcome.CRASH, 0.0, detail=f"{ending(end)}{f' at {where}' if where else ''}{after}")
    if left:
        return Trial(Outcome.RAISES, 0.0, left)
    if end.status:
        said = next((str(event.get("message")) for event in _named(end, "exit")), None)
        if said is None:
            return Trial(
                Outcome.CRASH, 0.0, detail=f"exited with status {end.status}{after or ', without an exception'}"
            )
        raised = Raised("builtins.SystemExit", Phase.FORWARD, said)
        return Trial(Outcome.RAISES, 0.0, raised, detail=f"exited with status {end.status}")
    if hooks:
        return Trial(Outcome.RAISES, 0.0, hooks, detail="raised in an exit hook; the exit status is 0")
    return Trial(Outcome.PASS, 0.0)


def _exceptions(end: ProbeEnd) -> tuple[Raised | None, Raised | None]:
    """What left the script, and what the last exit hook that failed raised."""
    found: dict[bool, Raised | None] = {}
    for event in _named(end, "raised"):
        found[bool(event.get("at_exit"))] = _raised(event)
    return found.get(False), found.get(True)


def _raised(event: Event) -> Raised | None:
    raised = _read(event.get("raised"), Raised)
    if raised is None:
        return None
    mismatches, disagreement = parse_mismatches(raised.message), parse_disagreement(raised.message)
    return msgspec.structs.replace(raised, mismatches=mismatches, disagreement=disagreement)


def _read(content: object, kind: type[T]) -> T | None:
    """Read what a script may have written into our file; nothing in it is taken as it comes."""
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError:
        return None


def _named(end: ProbeEnd, name: str) -> list[Event]:
    return [event for event in end.events if event.get("event") == name]
