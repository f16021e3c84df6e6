"""What a run requires: which sessions have something to run, found and got ready for before nox begins the first.

Nothing of it is needed where nothing has changed, and it takes a while to import: ``recompat.nox`` does so no sooner.
"""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING

import nox

from recompat.command_line import in_parallel, own, positional, will_probe
from recompat.console import tell
from recompat.ending import ends_well
from recompat.environment import drop_unused_environment
from recompat.errors import RecompatError
from recompat.options import parse_options
from recompat.plan import Plan
from recompat.required import Required
from recompat.room import check_room
from recompat.run_folder import LOCK
from recompat.verify import drop_left_verifications
from recompat.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recompat.project import Project
    from recompat.run_folder import RunFolder

__all__ = ["required_sessions"]


def required_sessions(project: Project, run: RunFolder) -> Required:
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
        targets = sorted({target for plan in plans for target in plan.known}, key=lambda target: target.place)
        pending = {type(plan): plan.pending for plan in plans}
        return Required(targets, pending.get(Plan, ()), pending.get(Watch, ()))
    except RecompatError:
        if any(argument.startswith("probe(") for argument in sys.argv):  # nox would only say that there is none
            with ends_well():
                raise
        return Required()


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
