"""A project of any size, made of the accepted records: as varied as the library is, and larger."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from packaging.version import Version

from recompat.record import encode_record, load_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recompat.model import Record

__all__ = ["write_project"]

ROOT = Path(__file__).parent.parent
COPIED = ("noxfile.py", "pyproject.toml", "README.md", "LICENSE", "src")
PATCH = 100  # above every patch that a claim speaks of, so that the claims of the minor release hold


def write_project(folder: Path, cases: int, releases: int) -> int:
    """Write a project whose records are all there, and return its number of cases: whole files, and so nearly ``cases``.

    Case files are copies of the library's under other names, records are copies under other versions of the same minors.
    No two copies say the same: each has its number in its source, in its messages and in its claims.
    """
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / "matrix" / "cases").mkdir(parents=True)
    originals = _originals()
    copies = list(_copies(originals[0], cases))
    digests = {stem: _write_case_file(folder, file, stem) for file, stem in copies}
    claims = re.split(r"(?m)^(?=\[\[)", (ROOT / "matrix" / "expectations.toml").read_text(encoding="utf-8"))
    (folder / "matrix" / "expectations.toml").write_text("".join(_claims(claims, copies)), encoding="utf-8")
    names = [_write_record(folder, record, copies, digests) for record in _taken(originals, releases)]
    torch = f"[torch]\ndefault = {json.dumps(names)}\n"
    extras = re.findall(
        r"(?ms)^\[\[extras\]\].*?(?=\n\n)", (ROOT / "matrix" / "matrix.toml").read_text(encoding="utf-8")
    )
    (folder / "matrix" / "matrix.toml").write_text("\n\n".join([torch, *extras]), encoding="utf-8")
    return sum(len(_of(originals[0], file)) for file, _ in copies)


def _originals() -> list[Record]:
    """The accepted records of the whole library, oldest release first."""
    records = [load_record(path) for path in (ROOT / "matrix" / "baseline").glob("*.json")]
    most = max(len(record.results) for record in records)
    return sorted((r for r in records if len(r.results) == most), key=lambda r: Version(r.environment.torch))


def _copies(record: Record, cases: int) -> Iterator[tuple[str, str]]:
    """Go through (file, stem of its copy) until the next file would make more than ``cases``."""
    left, number = cases, 0
    files = sorted({result.case.partition("::")[0] for result in record.results})
    while True:
        for file in files:
            left -= len(_of(record, file))
            if left < 0:
                return
            yield file, f"{file}_{number}"
        number += 1


def _of(record: Record, file: str) -> list[Any]:
    return [result for result in record.results if result.case.startswith(f"{file}::")]


def _write_case_file(folder: Path, file: str, stem: str) -> str:
    source = (ROOT / "matrix" / "cases" / f"{file}.py").read_bytes() + f"\n# {stem}\n".encode()
    (folder / "matrix" / "cases" / f"{stem}.py").write_bytes(source)
    return hashlib.sha256(source).hexdigest()


def _claims(claims: list[str], copies: list[tuple[str, str]]) -> Iterator[str]:
    for file, stem in copies:
        for claim in claims:
            if claim.startswith(f"[[{file}."):
                named = claim.replace(f"[[{file}.", f"[[{stem}.", 1)
                yield re.sub(r'(?m)^reason = "', f'reason = "({stem}) ', named)


def _taken(originals: list[Record], releases: int) -> Iterator[Record]:
    for place in range(releases):
        record = originals[place * len(originals) // releases]
        major, minor = Version(record.environment.torch).release[:2]
        environment = msgspec.structs.replace(record.environment, torch=f"{major}.{minor}.{PATCH + place}")
        yield msgspec.structs.replace(record, environment=environment)


def _write_record(folder: Path, record: Record, copies: list[tuple[str, str]], digests: dict[str, str]) -> str:
    results = tuple(_renamed(result, stem, digests[stem]) for file, stem in copies for result in _of(record, file))
    path = folder / "reports" / "records" / f"{record.environment.id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_record(msgspec.structs.replace(record, results=results)))
    return record.environment.torch


def _renamed(result: Any, stem: str, sha256: str) -> Any:
    trials = {
        replay: trial
        if trial.raised is None
        else msgspec.structs.replace(
            trial, raised=msgspec.structs.replace(trial.raised, message=f"({stem}) {trial.raised.message}")
        )
        for replay, trial in result.trials.items()
    }
    case = f"{stem}::{result.case.partition('::')[2]}"
    return msgspec.structs.replace(result, case=case, sha256=sha256, trials=trials)
