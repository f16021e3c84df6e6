"""A stand-in for starting a probe: a function that writes the events instead."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

PIDS = itertools.count(2**22 + 1)  # beyond what the system gives: no process of ours is ever signalled


@dataclass
class FakeProbe:
    """A probe that wrote all its events at once and ended with ``status``; ``None`` means that it hangs."""

    pid: int
    status: int | None

    def poll(self) -> int | None:
        return self.status

    def wait(self) -> int:
        return -9 if self.status is None else self.status


@dataclass
class FakeSpawn:
    """Starts fake probes: ``script`` is given the cases of each and yields its events; ``status`` gives its ending."""

    script: Callable[[Sequence[str]], Iterable[dict[str, object]]]
    status: int | None = 0
    calls: list[list[str]] = field(default_factory=list)

    def __call__(self, python: Path, arguments: Sequence[str], log: Path) -> FakeProbe:
        self.calls.append(list(arguments))
        out = arguments[arguments.index("--out") + 1]
        cases = [argument for argument in arguments if "::" in argument]
        events = list(self.script(cases))
        with open(out, "w") as file:  # noqa: PTH123
            file.writelines(json.dumps(event) + "\n" for event in events)
        ended = bool(events) and events[-1]["event"] == "end"
        return FakeProbe(next(PIDS), 0 if ended else self.status)


def case_id(address: str) -> str:
    """``/some/where/file.py::name`` as the events name it."""
    path, _, name = address.rpartition("::")
    return f"{path.rsplit('/', 1)[-1].removesuffix('.py')}::{name}"


def finished(address: str, sha256: str = "sha", **trial: object) -> dict[str, object]:
    """A ``finished`` event of a case that passed, unless ``trial`` says otherwise."""
    known = {"outcome": "pass", "seconds": 0.1, "raised": None, "differences": [], "warnings": [], "detail": None}
    return {"event": "finished", "case": case_id(address), "sha256": sha256, **known, **trial}


def started(address: str) -> dict[str, object]:
    """A ``started`` event."""
    return {"event": "started", "case": case_id(address)}


def evidence(address: str, sha256: str = "sha", **seen: object) -> dict[str, object]:
    """An ``evidence`` event of a case that passed without a checkpoint, unless ``seen`` says otherwise."""
    known: dict[str, object] = {"outcome": "pass", "exception": None, "calls": [], "unwatched": 0, "detail": None}
    return {"event": "evidence", "case": case_id(address), "sha256": sha256, **known, **seen}


END: dict[str, object] = {"event": "end"}
