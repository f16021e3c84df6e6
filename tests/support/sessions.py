"""What the tests of whole runs ask: what a run left behind, and what a user would have seen of it."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from support.project import Project

__all__ = [
    "GREEN",
    "NOTICE",
    "cell",
    "environments",
    "leftovers",
    "on_terminal",
    "processes",
    "record_of",
    "said",
    "stopped_writing",
    "trials",
    "wait_for",
]

NOTICE = "PyTorch's CPU index is out of reach. Wheels come from the default index instead"
GREEN = {
    ("passes::square", "9.0.0"): "pass",
    ("passes::square", "9.1.0"): "pass",
    ("regresses::regresses", "9.0.0"): "pass",
    ("regresses::regresses", "9.1.0"): "raises",
}
DEADLINE = 40.0  # seconds: for a machine that has much else to do


def said(text: str) -> list[str]:
    """The sentences of recompat itself on stderr, without nox's own lines."""
    return [line.removeprefix("recompat: ") for line in text.splitlines() if line.startswith("recompat: ")]


def record_of(project: Project, release: str) -> Any:
    """The one record of a release."""
    (found,) = [record for record in project.records().values() if record["environment"]["torch"] == release]
    return found


def trials(project: Project, release: str) -> dict[str, Any]:
    """The recorded trials of a release by case, each by its replay."""
    return {result["case"]: result["trials"] for result in record_of(project, release)["results"]}


def cell(project: Project, case: str, release: str) -> Any:
    """A whole cell of ``matrix.json``."""
    ids = {environment["torch"]: environment["id"] for environment in project.matrix_json()["environments"]}
    cells = project.matrix_json()["cells"]
    (found,) = [one for one in cells if one["case"] == case and one["environment"] == ids[release]]
    return found


def environments(project: Project) -> list[str]:
    """The environments that stand."""
    return sorted(path.name for path in (project.root / ".nox").glob("probe-*"))


def leftovers(project: Project) -> list[str]:
    """What a run should not leave: environments, temporary files, files and a site that were not written to their end."""
    others = [*Path(project.env["TMPDIR"]).iterdir(), *project.reports.rglob(".*")]
    return sorted((*environments(project), *(path.name for path in others)))


def processes(project: Project) -> dict[int, str]:
    """The command lines of all processes that have to do with ``project``, told by their own and by their HOME."""
    marks = str(project.root).encode(), project.env["HOME"].encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            command = (folder / "cmdline").read_bytes()
            if command and any(mark in command + (folder / "environ").read_bytes() for mark in marks):
                found[int(folder.name)] = command.replace(b"\0", b" ").decode("utf-8", "replace")
    return found


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Poll until ``condition`` holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"within {DEADLINE:g} s: {what}"
        time.sleep(0.02)


def stopped_writing(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for the end of a process that should end now; return what it wrote."""
    return process.communicate(timeout=DEADLINE)


def on_terminal(project: Project, *args: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run nox with a terminal as its output; return its exit code and all that came."""
    ours, theirs = pty.openpty()
    unset = {name: value for name, value in project.env.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "nox", *args],
        cwd=project.root,
        env={**unset, "TERM": "xterm-256color", "COLUMNS": "120", **(env or {})},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    parts = []
    with process, contextlib.suppress(OSError):  # Linux says EIO where the other end was closed
        while part := os.read(ours, 65536):
            parts.append(part)
    os.close(ours)
    return process.returncode, b"".join(parts).decode("utf-8", "replace").replace("\r\n", "\n")
