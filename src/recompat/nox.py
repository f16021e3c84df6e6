"""The sessions: ``probe`` builds and tries one release, ``matrix`` requires those that have something to run, and judges.

``watch`` does so for what is new.

A noxfile calls ``define_sessions``; nothing else of recompat knows nox.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import nox
from packaging.version import Version

from recompat.ahead import Ahead
from recompat.bound import end_with
from recompat.collection import collect_seldom
from recompat.command_line import in_parallel, is_worker, own, positional, will_probe
from recompat.console import tell
from recompat.ending import ends_well, heed_sigterm, leave
from recompat.environment import drop_unused_environment
from recompat.errors import ExitCode, Interrupted, RecompatError
from recompat.options import parse_options
from recompat.plan import Plan, show_summary
from recompat.project import Project
from recompat.room import check_room
from recompat.run_folder import RunFolder
from recompat.tracks import Target, packed
from recompat.unchanged import unchanged
from recompat.verify import drop_left_verifications
from recompat.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from nox._parametrize import Param

    from recompat.summary import Summary

__all__ = ["define_sessions"]

LOCK = Path(".nox", "recompat.lock")
REPORT = "sessions.json"


def define_sessions(noxfile: Path | str) -> None:
    """Define ``probe(torch=…)``, ``matrix``, ``watch`` and ``report`` for the project of a noxfile, or in a folder.

    None of them runs by default: put ``matrix`` into ``nox.options.sessions`` beforehand if it should.
    """
    collect_seldom()
    folder = Path(noxfile).resolve()
    project, run = Project(folder if folder.is_dir() else folder.parent), RunFolder()
    ahead = Ahead(run.path / "ahead.log")
    heed_sigterm()
    if run.mine:
        atexit.register(_close, run, ahead)
        sys.excepthook = functools.partial(_interrupted, run, ahead)
        nox.options.report = nox.options.report or str(run.path / REPORT)
    with ends_well(run.note):  # a disk that is full, or Ctrl-C while an index is asked
        if not run.mine:
            run.join(project.root / LOCK)
            end_with(run.parent)
        elif is_worker():
            raise Interrupted("The nox that started this one has ended.")
        published = _unchanged(project, run)
        required = _Required() if published else _sessions(project, run)

    @nox.session(venv_backend="uv", reuse_venv=True, allow_parallel=True, default=False)
    @nox.parametrize(required.axes, required.parameters)
    def probe(session: nox.Session, torch: str, **beside: str) -> None:
        """Install one torch release in an environment of its own, run the cases there, and record what happened."""
        target, location = Target(Version(torch), packed(beside)), Path(session.virtualenv.location)
        with ends_well(run.note):
            plan = Plan(project, run, parse_options(session.posargs))
            plan.probe(target, location, None if in_parallel() else ahead, required.after(target))

    @nox.session(venv_backend="none", requires=required.matrix, default=False)
    def matrix(session: nox.Session) -> None:
        """Run what has to be run, hold it against the expectations, and write the reports."""
        with ends_well(run.note):
            if published:
                leave(_shown(published), run.note)
            else:
                leave(Plan(project, run, parse_options(session.posargs)).report(), run.note)

    @nox.session(venv_backend="none", requires=required.watch, default=False)
    def watch(session: nox.Session) -> None:
        """Run the releases that are new, verify what changed in them, and tell it."""
        with ends_well(run.note):
            leave(Watch(project, run, parse_options(session.posargs)).tell(), run.note)

    @nox.session(venv_backend="none", default=False)
    def report(session: nox.Session) -> None:
        """Write the reports again, from what is recorded: nothing is installed and nothing is run."""
        with ends_well(run.note):
            leave(Plan(project, run, parse_options(session.posargs)).report(recorded=True), run.note)


def _unchanged(project: Project, run: RunFolder) -> Summary | None:
    """What the last run published, where ``matrix`` alone is asked for and would make the same."""
    named = [word for word in own() if word.startswith(("probe", "watch", "report"))]
    if not run.mine or named or not will_probe():
        return None
    with contextlib.suppress(RecompatError):  # said by the session that it concerns
        return unchanged(project, parse_options(positional()))
    return None


def _shown(published: Summary) -> ExitCode:
    show_summary(published)
    tell(*published.notices)
    return published.exit_code


class _Ended(msgspec.Struct):
    name: str
    result: str
    signatures: list[str]


class _Report(msgspec.Struct):
    """What is read of the report that nox makes of its sessions."""

    sessions: list[_Ended]


class _Required(NamedTuple):
    """What has a probe session, and those of these sessions that ``matrix`` and ``watch`` require."""

    targets: Sequence[Target] = ()
    matrix: Sequence[str] = ()
    watch: Sequence[str] = ()
    pending: Sequence[Target] = ()

    def after(self, target: Target) -> Target | None:
        """What is run after ``target``, if anything is."""
        return dict(itertools.pairwise(self.pending)).get(target)

    @property
    def axes(self) -> list[str]:
        """The names of what a session is of: torch, then what stands beside it."""
        return ["torch", *(name for name, _ in self.targets[0].beside)] if self.targets else ["torch"]

    @property
    def parameters(self) -> list[Param]:
        """Their values, for each session."""
        return [
            nox.param(str(target.torch), *(version for _, version in target.beside), id=target.parameters)
            for target in self.targets
        ]


def _sessions(project: Project, run: RunFolder) -> _Required:
    """Find out which releases the sessions are about, and get ready for them.

    What follows ``--`` may belong to another session: a fault in it is left to the session that it concerns.
    """
    try:
        options = parse_options(positional() if will_probe() else [])
        if options.jobs:
            nox.options.parallel = options.jobs
        if run.mine and (options.jobs or in_parallel()):
            tempfile.tempdir = str(run.path)  # nox keeps a folder for each child, which it leaves where it is killed
        plans = [kind(project, run, options) for kind in _kinds()]
        if run.mine and will_probe() and any(plan.works for plan in plans):
            with ends_well():
                check_room(project.root / ".nox")
                run.hold(project.root / LOCK, _say_waiting)
                _clear(project)
                plans = [kind(project, run, options) for kind in _kinds()]  # another run may have done it meanwhile
                for plan in plans:
                    plan.prepare(in_parallel=in_parallel())
        required = {type(plan): [target.session for target in plan.pending] for plan in plans}
        targets = sorted({target for plan in plans for target in plan.known}, key=lambda target: target.place)
        pending = [target for plan in plans for target in plan.pending]
        return _Required(targets, required.get(Plan, []), required.get(Watch, []), pending)
    except RecompatError:
        if any(argument.startswith("probe(") for argument in sys.argv):  # nox would only say that there is none
            with ends_well():
                raise
        return _Required()


def _kinds() -> Sequence[type[Plan]]:
    """What the sessions that are named plan for; unless told otherwise, the matrix."""
    watches = any(word.startswith("watch") for word in own())
    others = any(word.startswith(("matrix", "probe")) for word in own())
    return [kind for kind, named in ((Plan, others or not watches), (Watch, watches)) if named]


def _clear(project: Project) -> None:
    """Remove what a killed run left: nobody else is at work here now."""
    for left in (project.root / ".nox").glob("probe-torch-*"):
        drop_unused_environment(left)
    drop_left_verifications(project)


def _say_waiting(who: str) -> None:
    tell(f"another run is at work in this checkout{who}; waiting for its end.")


def _interrupted(
    run: RunFolder, ahead: Ahead, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """End as documented where Ctrl-C or SIGTERM meets nox itself, between our sessions."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    run.note(ExitCode.INTERRUPTED)
    _close(run, ahead)


def _broken(report: Path) -> list[str]:
    """The probe sessions that nox could not make an environment for, or whose process was killed: else they end well."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        ended = msgspec.json.decode(report.read_bytes(), type=_Report).sessions
        return [max(one.signatures, key=len) for one in ended if one.name == "probe" and one.result == "failed"]
    return []


def _close(run: RunFolder, ahead: Ahead) -> None:
    """At exit: hand on the exit code of a session that ran in a process of its own, where nox has only 0 and 1."""
    code = run.noted
    if code is ExitCode.OK and (broken := _broken(run.path / REPORT)):
        code = ExitCode.INCOMPLETE  # nox says 1, as for a case that is not as expected
        tell(f"{' and '.join(broken)} came to no end; run it again.")
    ahead.drop()
    run.remove()
    if code is not ExitCode.OK:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
