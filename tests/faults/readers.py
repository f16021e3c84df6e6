"""Everything that reads what others wrote, as production does: through a file, and each with the faults that it may name."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from packaging.version import Version

from faults import seeds
from recompat.blocks import Blocks
from recompat.cases import CaseFile, read_case_file, read_case_files
from recompat.ci_matrix import read_plan, unrecorded
from recompat.compare import Side, diff
from recompat.errors import ConfigurationError, NothingSelected, RecompatError
from recompat.events import evidence_of, trial_of
from recompat.expectations import load_expectations
from recompat.explain import Library, explain
from recompat.judging import judged
from recompat.listing import load_listing
from recompat.lock import load_lock, render_lock
from recompat.matrix import Matrix, load_matrix
from recompat.pasted import read_messages, read_text
from recompat.private import may_be_private, scrub
from recompat.project import Project
from recompat.record import BadRecord, load_record, load_records, save_record
from recompat.report.diff_markdown import render_diff_markdown
from recompat.report.diff_text import render_diff_text
from recompat.report.explain_markdown import render_explain_markdown
from recompat.report.explain_text import render_explain_text
from recompat.report.formats import FORMATS
from recompat.report.json import render_json
from recompat.report.page import Paper
from recompat.runner import ProbeEnd
from recompat.script import read_script
from recompat.script_work import trial_of as trial_of_script
from recompat.shards import merge_folders, newest_listing
from recompat.show import read_known, show
from recompat.summary import Summary
from recompat.watch import _left

if TYPE_CHECKING:
    from collections.abc import Callable

    from recompat.model import Record

__all__ = ["READERS", "Broken", "Reader", "attempt", "place"]

NAME = "torch2.11.0-cp311-linux_x86_64.json"
HOSTILE = (
    *("../../evil.json", "/tmp/evil.json", "CON.json", "nul.json", "aux", "TORCH2.11.0-cp311-linux_x86_64.json"),
    *(
        "torch2.11.0-cp311-linux_x86_64.json.",
        "torch2.11.0-cp311-linux_x86_64.json ",
        "a" * 300,
        "e\u0301.json",
        "é.json",
    ),
)


class Broken(AssertionError):
    """What a reader must hold to and does not."""


@dataclass(frozen=True)
class Reader:
    """Something that reads bytes of others.

    ``form`` is how they are mutated, ``words`` are those that it looks for, and ``share`` is its part of the executions, of
    10,000: what takes little time has many.
    """

    form: str
    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    share: int
    words: tuple[str, ...] = ()


def attempt(reader: Reader, content: bytes) -> bool:
    """Read something; whether it was accepted. Whatever else is raised than a fault with a sentence is a finding."""
    try:
        reader.read(content)
    except (RecompatError, BadRecord) as error:
        if not str(error):
            raise Broken("It was refused without a word.") from error
        return False
    return True


@cache
def place() -> Path:
    """A folder for this process."""
    folder = Path(tempfile.mkdtemp(prefix="recompat-faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file(name: str, content: bytes) -> Path:
    path = place() / name
    path.write_bytes(content)
    return path


def _record(content: bytes) -> Record:
    """What was accepted is written and read again as it is."""
    record = load_record(_file(NAME, content))
    again = load_record(save_record(place() / "again", record))
    if msgspec.structs.replace(again, digest="") != msgspec.structs.replace(record, digest=""):
        raise Broken("What was read is not what is written.")
    return record


def _merge(content: bytes) -> None:
    """Whatever is in a folder, nothing is written beside the target, nor anything but records with their own names."""
    root = place() / "merge"
    shutil.rmtree(root, ignore_errors=True)
    shards, out = root / "shards", root / "deep" / "er" / "records"
    shards.mkdir(parents=True)
    for number, name in enumerate((NAME, HOSTILE[len(content) % len(HOSTILE)].replace("/", "_"))):
        (shards / name[:250]).write_bytes(content if number == 0 else content[:-1])
    save_record(shards / "records", seeds.good())
    (shards / "index.json").write_bytes(content)
    merge_folders([shards], None, out)
    newest_listing([shards], root / "deep" / "index.json")
    records, set_aside = load_records(out)
    found = {path for path in (root / "deep").rglob("*") if path.is_file()} - {root / "deep" / "index.json"}
    if set_aside or found != {out / f"{record.environment.id}.json" for record in records}:
        raise Broken(f"There is something else: {found}.")


@cache
def _project() -> tuple[Project, Matrix, tuple[CaseFile, ...], Record]:
    """A project with two case files of the library, the claims for them, and a record to compare with."""
    root = place() / "project"
    seeds.lay_out(root)
    project = Project(root)
    (other,), _ = load_records(project.baseline)
    return project, load_matrix(project.matrix), read_case_files(project.cases), other


def _reports(content: bytes) -> None:
    """A record that was accepted is judged, drawn in every format, shown and compared."""
    project, matrix, files, other = _project()
    record = load_record(_file(NAME, content))
    path = save_record(project.records, record)
    try:
        cases = [case for file in files for case in file.cases]
        summary = judged(project, matrix, files, cases, [record, other], [record, other])
        for one in FORMATS.values():
            one.render(summary)
        msgspec.json.decode(render_json(summary), type=Summary)
        with contextlib.suppress(NothingSelected):  # they may have no case in common
            found = diff(Side("a", (record,)), Side("b", (other,)))
            for text in (render_diff_markdown(found), render_diff_text(found, Paper())):
                text.encode()
        known = read_known(project)
        show(known, record.environment.id, None, Paper(detail=1)).encode()
        for result in record.results:
            with contextlib.suppress(NothingSelected, ConfigurationError):  # its name is what a record says
                show(known, result.case, None, Paper()).encode()
        show(known, cases[len(content) % len(cases)].id, record.environment.torch, Paper(detail=1)).encode()
    except RecompatError as error:
        raise Broken("What was accepted cannot be drawn.") from error
    finally:
        path.unlink()


def _listing(content: bytes) -> None:
    load_listing(_file("index.json", content))


def _changes(content: bytes) -> None:
    _left(_file("changes.json", content))


def _plan(content: bytes) -> None:
    """Jobs that left no record get one, in its place."""
    plan, target = read_plan(_file("plan.json", content)), place() / "planned"
    for record in unrecorded(plan, ()):
        path = save_record(target, record)
        if path.parent != target or not path.exists():
            raise Broken(f"{path} is another place.")
        path.unlink()


def _matrix(content: bytes) -> None:
    load_matrix(_file("matrix.toml", content))


def _lock(content: bytes) -> None:
    """What a lock says is what it says again when it is written."""
    lock = load_lock(_file("lock.toml", content))
    for one in lock.environments:
        lock.digest(Version(one.torch))
    try:
        again = load_lock(_file("lock.toml", render_lock(lock).encode()))
    except RecompatError as error:
        raise Broken("What is written cannot be read.") from error
    if again != lock:
        raise Broken("A lock that nobody changed is not what it was.")


def _expectations(content: bytes) -> None:
    """Claims that hold are those that ``recompat accept`` edits, and it must give back what it was given."""
    load_expectations(_file("expectations.toml", content), *seeds.speak_of())
    if (text := content.decode()).strip() and Blocks(text, "expectations.toml").text.rstrip() != text.rstrip():
        raise Broken("A file of claims that nobody edited is not what it was.")


def _pasted(content: bytes) -> None:
    read_messages(read_text(content))


def _explained(content: bytes) -> None:
    text = read_text(content)
    found = explain(read_messages(text), text, _library())
    for drawn in (render_explain_text(found, Paper()), render_explain_markdown(found), render_json(found)):
        drawn.encode()


@cache
def _library() -> Library:
    _, _, files, other = _project()
    return Library(files, {None: [other]})


def _script(content: bytes) -> None:
    folder = place() / "scripts"
    try:
        read_script(str(_file("script.py", content)), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _case_file(content: bytes) -> None:
    read_case_file(_file("patterns.py", content))


def _events(content: bytes) -> None:
    """Lines that a case, or a script, may have written into the file of those who run it."""
    heard = []
    for line in content.splitlines():
        try:
            event: dict[str, Any] = msgspec.json.decode(line, type=dict[str, object])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        event = {"case": "a::b", "sha256": "", **event}
        msgspec.json.encode((trial_of(event, {}), evidence_of(event, {})))
        heard.append(event)
    msgspec.json.encode(trial_of_script(ProbeEnd(tuple(heard), len(content) % 3 - 1, False), 1.0, 60.0))


def _private(content: bytes) -> None:
    """What was scrubbed has nothing more to scrub, and what is not suspected has nothing at all."""
    text = content.decode("utf-8", "replace")
    once = scrub(text)
    if scrub(once) != once:
        raise Broken("It was not scrubbed at once.")
    if once != text and not may_be_private(msgspec.json.encode({"message": text})):
        raise Broken("It was not suspected.")


READERS = {
    "record": Reader("record", _record, seeds.records, 400, seeds.words_of_records()),
    "merge": Reader("record", _merge, seeds.records, 5, seeds.words_of_records()),
    "reports": Reader("record", _reports, seeds.records, 3, seeds.words_of_records()),
    "listing": Reader("json", _listing, seeds.listings, 2000, ("releases", "previews", "date")),
    "changes": Reader("json", _changes, seeds.changes, 2300, ("releases", "torch", "complete")),
    "plan": Reader("json", _plan, seeds.plans, 1300, ("include", "environment", "os", "python")),
    "matrix": Reader("toml", _matrix, seeds.matrices, 300, seeds.WORDS_OF_A_MATRIX),
    "lock": Reader("toml", _lock, seeds.locks, 50, seeds.WORDS_OF_A_LOCK),
    "expectations": Reader("toml", _expectations, seeds.claims, 150, seeds.WORDS_OF_CLAIMS),
    "pasted": Reader("text", _pasted, seeds.pasted, 200, seeds.WORDS_OF_A_MESSAGE),
    "explained": Reader("text", _explained, seeds.pasted, 12, seeds.WORDS_OF_A_MESSAGE),
    "script": Reader("text", _script, seeds.scripts, 150, seeds.WORDS_OF_A_SCRIPT),
    "case-file": Reader("text", _case_file, seeds.case_files, 1500, seeds.WORDS_OF_A_CASE),
    "events": Reader("lines", _events, seeds.events, 1620, seeds.words_of_records()),
    "private": Reader("text", _private, seeds.private, 10, seeds.WORDS_OF_A_PATH),
}
"""All of them; there is none of ``matrix.json``, which is written and never read."""
