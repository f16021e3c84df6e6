"""The sessions: ``probe`` builds and tries one release, ``matrix`` requires those that have something to run, and judges.

``watch`` does so for what is new.

A noxfile calls ``define_sessions``; nothing but this, ``command_line``, ``sessions`` and ``required`` knows nox. Where nothing has changed since the
last run, that is shown again, and most of recompat is not even imported.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import nox

from recompat.ahead import Ahead
from recompat.bound import end_with
from recompat.collection import collect_seldom
from recompat.command_line import in_parallel, is_worker, own, positional, will_probe
from recompat.console import STEP_SUMMARY, tell
from recompat.ending import ends_well, heed_sigterm, leave
from recompat.errors import ExitCode, Interrupted, RecompatError
from recompat.options import parse_options
from recompat.project import Project
from recompat.required import Required
from recompat.run_folder import LOCK, RunFolder
from recompat.unchanged import look, unchanged

if TYPE_CHECKING:
    from types import TracebackType

    from recompat.unchanged import Published

__all__ = ["define_sessions"]

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
        required = Required() if published else _required(project, run)

    @nox.session(venv_backend="uv", reuse_venv=True, allow_parallel=True, default=False)
    @nox.parametrize(required.axes, required.parameters)
    def probe(session: nox.Session, torch: str, **beside: str) -> None:
        """Install one torch release in an environment of its own, run the cases there, and record what happened."""
        from packaging.version import Version

        from recompat.plan import Plan
        from recompat.tracks import Target, packed

        target, location = Target(Version(torch), packed(beside)), Path(session.virtualenv.location)
        with ends_well(run.note):
            plan = Plan(project, run, parse_options(session.posargs))
            plan.probe(target, location, None if in_parallel() else ahead, required.after(target))

    @nox.session(venv_backend="none", requires=[target.session for target in required.matrix], default=False)
    def matrix(session: nox.Session) -> None:
        """Run what has to be run, hold it against the expectations, and write the reports."""
        with ends_well(run.note):
            if published:
                leave(_shown(published), run.note)
            else:
                from recompat.plan import Plan

                leave(Plan(project, run, parse_options(session.posargs)).report(), run.note)

    @nox.session(venv_backend="none", requires=[target.session for target in required.watch], default=False)
    def watch(session: nox.Session) -> None:
        """Run the releases that are new, verify what changed in them, and tell it."""
        from recompat.watch import Watch

        with ends_well(run.note):
            leave(Watch(project, run, parse_options(session.posargs)).tell(), run.note)

    @nox.session(venv_backend="none", default=False)
    def report(session: nox.Session) -> None:
        """Write the reports again, from what is recorded: nothing is installed and nothing is run."""
        from recompat.plan import Plan

        with ends_well(run.note):
            leave(Plan(project, run, parse_options(session.posargs)).report(recorded=True), run.note)


def _unchanged(project: Project, run: RunFolder) -> Published | None:
    """What the last run published, where ``matrix`` alone is asked for and would make the same."""
    named = [word for word in own() if word.startswith(("probe", "watch", "report"))]
    if not run.mine or named or not will_probe():
        return None
    with contextlib.suppress(RecompatError):  # said by the session that it concerns
        return unchanged(project, parse_options(positional()))
    return None


def _shown(published: Published) -> ExitCode:
    if published.look == look() and not os.environ.get(STEP_SUMMARY):
        print(published.table)  # noqa: T201
    else:
        from recompat.plan import drawn, show

        summary = published.summary
        show(summary, drawn(summary))
    tell(*published.notices)
    return published.exit_code


def _required(project: Project, run: RunFolder) -> Required:
    from recompat.sessions import required_sessions  # takes as long as all else where nothing has changed

    return required_sessions(project, run)


class _Ended(msgspec.Struct):
    name: str
    result: str
    signatures: list[str]


class _Report(msgspec.Struct):
    """What is read of the report that nox makes of its sessions."""

    sessions: list[_Ended]


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
