"""A project on some machine: nox is run in it, and what came of it is held against the undisturbed matrix."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from faults.promises import halves, leftovers, look
from faults.strike import end_all, of_run
from recompat.record import load_records
from recompat.report.moments import moment
from support.sessions import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faults.promises import Seen
    from faults.tally import Tally
    from support.project import Project

__all__ = ["Met", "Ran", "Start"]

PATIENCE = 180.0  # seconds for a run, on a machine that has much else to do


class Start(NamedTuple):
    """How nox is started: by which Python, after which words, with which variables; None unsets one."""

    env: Mapping[str, str | None] | None = None
    before: tuple[str, ...] = ()
    python: str = sys.executable


class Ran(NamedTuple):
    """How nox ended, and what it said."""

    code: int
    text: str
    said: list[str]


class Met:
    """What a run of a project meets; whatever is not as it should be is counted."""

    def __init__(self, project: Project, name: str, right: Seen, tally: Tally) -> None:
        self.project = project
        self.name = name
        self.tally = tally
        self._right = right

    @contextlib.contextmanager
    def started(self, start: Start = Start(), words: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:  # noqa: B008
        """Start ``nox -s matrix``."""
        env = {**self.project.env, **(start.env or {})}
        process = subprocess.Popen(
            [*start.before, start.python, "-m", "nox", "-s", "matrix", "--", *words],
            cwd=self.project.root,
            env={name: value for name, value in env.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def ended(self, process: subprocess.Popen[bytes]) -> Ran:
        """Wait for its end."""
        out, err = (stream.decode("utf-8", "replace") for stream in process.communicate(timeout=PATIENCE))
        return Ran(process.returncode, f"{out}{err}", said(err))

    def ran(self, start: Start = Start(), *words: str) -> Ran:  # noqa: B008 - a constant
        """Run it to its end."""
        with self.started(start, words) as process:
            return self.ended(process)

    def is_right(self, ran: Ran) -> None:
        """See that all ended well, and the matrix is as it is elsewhere."""
        now = look(self.project.reports)
        self.see(ran.code == 0, f"ended with {ran.code}: {ran.text[-600:]}", self.tally.lost)
        self.see(now.results == self._right.results, f"has other results: {now.results}")
        self.see(now.matrix == self._right.matrix, f"has another matrix: {now.matrix}")
        for record in load_records(self.project.reports / "records")[0]:
            trials = [trial for result in record.results for trial in result.trials.values()]
            self.see(all(trial.seconds >= 0 for trial in trials), "has a trial that took less than no time")
            self.see(
                all(seconds >= 0 for seconds in record.run.seconds.values()), "has a step that took less than no time"
            )
            self.see(moment(record.run.started) <= moment(record.run.finished), "has a run that ended before it began")

    def is_refused(self, ran: Ran, code: int, told: str) -> None:
        """See that one sentence says why."""
        self.see(ran.code == code, f"ended with {ran.code}, not {code}: {ran.text[-600:]}")
        sentences = [sentence for sentence in ran.said if not sentence.startswith("NOTE: ")]
        self.see(len(sentences) == 1 and told in sentences[0], f"said {ran.said}: {ran.text[-600:]}")
        self.see("Traceback" not in ran.text, f"showed a traceback: {ran.text[-1500:]}")

    def see(self, holds: object, otherwise: str, where: list[str] | None = None) -> None:
        """Count what does not hold."""
        if not holds:
            (self.tally.wrong if where is None else where).append(f"{self.name}: {otherwise}")

    @contextlib.contextmanager
    def nothing_left(self) -> Iterator[None]:
        """Count what is left, and half a file; a run that did not end is lost."""
        self.tally.injected += 1
        try:
            yield
        except subprocess.TimeoutExpired as error:
            self.see(
                False, f"did not end within {PATIENCE:g} s: {str(error.stderr or error.output)[-600:]}", self.tally.lost
            )
        home = self.project.env["HOME"]
        for one in of_run(home, 0):
            self.see(False, f"{one.role} runs on: {one.command[:300]}", self.tally.left)
        end_all(home)
        for left in leftovers(self.project.root, Path(self.project.env["TMPDIR"])):
            self.see(False, left, self.tally.left)
        for half in halves(self.project.reports):
            self.see(False, half)
