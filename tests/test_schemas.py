from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from builders import PASSES, differs, ends, raises, record, result, trouble, warns
from golden import check_golden
from recompat.model import Outcome, Record
from recompat.report.json import render_json
from recompat.schemas import FOLDER, generate
from recompat.summary import Summary
from scenes import CHECKPOINT, as_expected, everything, hostile, unreachable

RECORDS = [
    record("2.11.0", result("a::b", CHECKPOINT), result("a::c", differs(float("nan"))), result("a::d", warns("w"))),
    record("2.11.0", result("a::b", ends(Outcome.CRASH, "SIGSEGV"), PASSES, raises()), trouble=trouble()),
    record("2.11.0", trouble=trouble()),
]


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", sorted(generate()))
def test_the_committed_schema_is_what_the_types_make(name: str) -> None:
    check_golden(name, generate()[name], FOLDER)


@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_records_are_valid(number: int) -> None:
    validator("record-1.json").validate(json.loads(msgspec.json.encode(RECORDS[number])))


@pytest.mark.parametrize("scene", [everything, as_expected, hostile, unreachable])
def test_summaries_are_valid(scene: Any) -> None:
    validator("matrix-1.json").validate(json.loads(render_json(scene())))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "recompat/record/2"),
        (("facts", "threads"), 1.5),
        (("facts", "threads"), "1"),
        (("results", 0, "trials", "cold", "outcome"), "passes"),
        (("results", 0, "trials", "lukewarm"), {}),
        (("results", 0, "trials", "cold", "raised", "mismatches", 0, "saved", "shape"), ["2"]),
        (("results", 0, "trials", "cold", "differences"), None),
        (("trouble",), {"kind": "bad-luck", "reason": "It rained."}),
    ],
)
def test_a_record_that_says_otherwise_is_invalid(path: tuple[str | int, ...], value: object) -> None:
    written = json.loads(msgspec.json.encode(RECORDS[0]))
    place = written
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not validator("record-1.json").is_valid(written)


@pytest.mark.parametrize("kind", [Record, Summary])
def test_every_key_that_is_written_is_required(kind: type[Record | Summary]) -> None:
    name, made = ("record-1.json", RECORDS[0]) if kind is Record else ("matrix-1.json", as_expected())
    written = json.loads(msgspec.json.encode(made))
    for key in list(written):
        assert not validator(name).is_valid({other: value for other, value in written.items() if other != key})
