"""The jobs that run a matrix on other machines: release x system x interpreter, as GitHub Actions reads them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import msgspec

from recompat import __version__
from recompat.clock import now
from recompat.errors import ConfigurationError, NothingSelected
from recompat.model import Environment, Record, Run, Trouble, TroubleKind
from recompat.report.text import clean
from recompat.runners import RUNNERS, known_os, known_python, python_tag, runner_tags
from recompat.shards import safe
from recompat.tracks import ALONE, Target, Written, packed, target_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from packaging.tags import Tag
    from packaging.version import Version

    from recompat.tracks import Beside

__all__ = ["LARGEST", "Job", "JobMatrix", "jobs", "read_plan", "unrecorded"]

LARGEST: Final = 256
"""How many jobs GitHub takes from one matrix."""


class Job(msgspec.Struct, frozen=True):
    """One ``probe``: ``os`` is the label of a runner, ``python`` what actions/setup-python is asked for.

    ``cases`` is a ``-k`` expression, empty for the default cases; ``source`` is where wheels come from. ``session`` is the
    name of the session, whole; ``beside`` are the packages that an axis of the matrix chose for it.
    """

    torch: str
    os: str
    python: str
    cases: str = ""
    source: str = "auto"
    session: str = ""
    beside: Written = msgspec.UNSET

    @property
    def environment(self) -> Environment:
        """What it leaves a record of."""
        tag = python_tag(self.python)
        return Environment(self.torch, tag, RUNNERS[self.os].platform, tag, dict(packed(self.beside)))


class JobMatrix(msgspec.Struct, frozen=True):
    """What ``strategy.matrix`` of a workflow is; ``include`` alone says each job."""

    include: tuple[Job, ...]

    @property
    def line(self) -> str:
        """One line of JSON."""
        return msgspec.json.encode(self).decode()


def jobs(
    wheels: Mapping[Version, Iterable[Tag]],
    systems: Sequence[str],
    pythons: Sequence[str],
    cases: str,
    source: str,
    besides: Sequence[Beside] = (ALONE,),
) -> tuple[JobMatrix, tuple[str, ...]]:
    """Make a job of each combination that has a wheel.

    Args:
        wheels: for each release that was asked for, the tags of all its wheels.
        systems: labels of runners, checked by ``known_os``.
        pythons: interpreters, checked by ``known_python``.
        cases: a ``-k`` expression, or nothing.
        source: ``auto``, ``cpu`` or ``default``.
        besides: what each release is run with.

    Returns:
        The jobs, and a sentence for each release that has fewer than it was asked for.

    Raises:
        ConfigurationError: there are more than GitHub takes.
        NothingSelected: none has a wheel.
    """
    made, remarks = [], []
    for release, tags in wheels.items():
        there = frozenset(tags)
        lacking = []
        for system, python in itertools.product(dict.fromkeys(systems), dict.fromkeys(pythons)):
            if there.isdisjoint(runner_tags(system, python)):
                lacking.append(f"Python {python} on {system}")
            else:
                made += [_job(Target(release, beside), system, python, cases, source) for beside in besides]
        if lacking:
            remarks.append(f"torch {release} has no wheel for {', '.join(lacking)}: no job.")
    if wheels and not made:
        raise NothingSelected(
            "\n  - ".join(("No wheel for any of the jobs; choose others by --os or --python:", *remarks))
        )
    if len(made) > LARGEST:
        raise ConfigurationError(
            f"These are {len(made)} jobs, and GitHub takes {LARGEST} of one matrix; choose fewer by --torch, --os or --python."
        )
    return JobMatrix(tuple(made)), tuple(remarks)


def _job(target: Target, system: str, python: str, cases: str, source: str) -> Job:
    beside = dict(target.beside) or msgspec.UNSET
    return Job(str(target.torch), system, python, cases, source, target.session, beside)


def read_plan(path: Path) -> JobMatrix:
    """Read what ``ci-matrix`` printed.

    Raises:
        ConfigurationError: the file has something else, or cannot be read.
    """
    try:
        plan = msgspec.json.decode(path.read_bytes(), type=JobMatrix)
        for job in plan.include:
            known_os(job.os)
            known_python(job.python)
            if not safe(job.environment):
                raise ValueError(f"there is no {job.environment.id!r}")
    except OSError as error:
        raise ConfigurationError(f"--plan {path} cannot be read ({error.strerror}).") from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"--plan {path} is not what recompat ci-matrix printed ({clean(str(error))})."
        ) from error
    return plan


def unrecorded(plan: JobMatrix, records: Iterable[Record]) -> Iterator[Record]:
    """Make a record of each job that left none: neither of its environment nor of one that stands in for it."""
    there = {
        (target_of(one.environment), python, one.environment.platform)
        for one in records
        for python in (one.environment.python, one.environment.host_python)
    }
    for job in plan.include:
        wanted = job.environment
        if (target_of(wanted), wanted.python, wanted.platform) not in there:
            reason = f"The job on {job.os} with Python {job.python} left no record; its log says why. Run it again."
            run = Run(__version__, "", {}, now(), now(), {})
            yield Record(wanted, run, trouble=Trouble(TroubleKind.NOT_TRIED, reason))
