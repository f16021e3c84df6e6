"""What is on disk after a fault, held against an undisturbed run: every check reads files, and nothing that the tool says."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from recompat.record import BadRecord, load_record
from recompat.replays import stable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recompat.model import CaseResult

__all__ = ["Seen", "environments", "finished", "halves", "invented", "leftovers", "look"]

VOLATILE = {"generated", "date", "seconds", "started", "finished", "listed", "digest", "sent"}
COMPLETE = "recompat-complete.json"
PID = re.compile(r"\b(subprocess) [0-9]+")


class Seen(NamedTuple):
    """What stands in some reports, without what is different in each run."""

    results: dict[str, dict[str, Any]]
    """By environment and case."""
    matrix: Any
    changes: Any


def look(reports: Path) -> Seen:
    """Read what stands; records that cannot be read are left out."""
    return Seen(
        {path.stem: found for path, found in _records(reports) if isinstance(found, dict)},
        _json(reports / "matrix.json"),
        _json(reports / "changes.json"),
    )


def halves(reports: Path) -> list[str]:
    """P1: what is there and is not whole, in a sentence each."""
    broken = [f"{path.name} is no record: {found}" for path, found in _records(reports) if isinstance(found, str)]
    for name in ("matrix.json", "changes.json", "index.json"):
        try:
            _json(reports / name)
        except ValueError as error:
            broken.append(f"{name} is not whole: {error}")
    return broken


def invented(seen: Seen, whole: Seen) -> list[str]:
    """P2 and P3: results and cells that no undisturbed run has; what is not run, and says so, is none."""
    wrong = []
    for environment, results in seen.results.items():
        for case, result in results.items():
            if _unverified(right := whole.results.get(environment, {}).get(case)) != _unverified(result):
                wrong.append(f"{case} on {environment} is recorded as {result}, and not as {right}")
    right_cells = {(cell["case"], cell["environment"]): cell for cell in (whole.matrix or {}).get("cells", ())}
    for cell in (seen.matrix or {}).get("cells", ()):
        right = right_cells.get((cell["case"], cell["environment"]))
        if (cell["outcome"], cell["verdict"]) != ("not-run", "missing") and _bare(cell) != _bare(right):
            wrong.append(
                f"{cell['case']} on {cell['environment']} is shown as {_bare(cell)}, and not as {_bare(right)}"
            )
    return wrong


def environments(root: Path) -> dict[str, bool]:
    """The environments of a project, and whether a later run would take each for whole."""
    found = [*(root / ".nox").glob("probe-*"), *(root / "reports").glob("try/*/environments/*")]
    return {path.name: (path / COMPLETE).exists() for path in sorted(found)}


def finished(reports: Path, whole: Seen) -> dict[Path, bytes]:
    """P4: the records that a later run has no reason to make again, as they are."""
    return {
        path: path.read_bytes() for path, found in _records(reports) if found and found == whole.results.get(path.stem)
    }


def leftovers(root: Path, temporary: Path) -> list[str]:
    """P5: hidden and temporary files and folders."""
    return sorted(str(path) for path in (*temporary.iterdir(), *(root / "reports").rglob(".*")))


def _records(reports: Path) -> Iterator[tuple[Path, dict[str, Any] | str]]:
    """The results of each record by case, or what is wrong with it."""
    for path in sorted(reports.rglob("records/*.json")):
        if any(part == "site" or part.startswith(".") for part in path.relative_to(reports).parts):
            continue  # copies, and those of a verification
        try:
            yield path, {result.case: _lasting(result) for result in load_record(path).results}
        except BadRecord as error:
            yield path, str(error)


def _lasting(result: CaseResult) -> Any:
    trials = {replay: stable(trial) for replay, trial in result.trials.items()}
    return _dropped(msgspec.to_builtins(msgspec.structs.replace(result, trials=trials)))


def _json(path: Path) -> Any:
    return _dropped(json.loads(path.read_bytes())) if path.exists() else None


def _dropped(content: Any) -> Any:
    """What does not change from one run to the next."""
    if isinstance(content, dict):
        return {key: _dropped(value) for key, value in content.items() if key not in VOLATILE}
    if isinstance(content, list):
        return [_dropped(value) for value in content]
    return PID.sub(r"\1 …", content) if isinstance(content, str) else content


def _unverified(result: Any) -> Any:
    """A result without what came out from scratch, which is added later."""
    return result and {**result, "again": None}


def _bare(cell: Any) -> Any:
    """How a cell ended: whether it is a change depends on what else is shown."""
    return cell and {key: cell[key] for key in ("outcome", "verdict", "exception", "replays", "detail", "flaky")}
