"""JSON Schemas of what recompat writes, generated from the types; the committed files must equal what this makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import msgspec

from recompat.attempt import TRY_SCHEMA, Attempt
from recompat.bisection import BISECTION_SCHEMA, Bisection
from recompat.catalogue import VERSIONS_SCHEMA, Versions
from recompat.changes import CHANGES_SCHEMA, Changes
from recompat.diff import DIFF_SCHEMA, Diff
from recompat.explanation import EXPLANATION_SCHEMA, Explanation
from recompat.listing import INDEX_SCHEMA, Listing
from recompat.model import RECORD_SCHEMA, Record
from recompat.summary import MATRIX_SCHEMA, Summary

__all__ = ["FOLDER", "generate"]

FOLDER = Path(__file__).parent

LATER = {  # what files of before do not have, and they stand
    ("CaseResult", "again"),
    ("Listing", "previews"),
    ("Explanation", "others"),
}

AXIS = "beside"  # is there only where an axis of the matrix chose something

Schema = dict[str, Any]


KINDS: Final[tuple[tuple[str, type[msgspec.Struct], str, str], ...]] = (
    ("record", Record, RECORD_SCHEMA, "What one environment left: reports/records/<environment>.json."),
    ("matrix", Summary, MATRIX_SCHEMA, "The judged matrix of all environments: reports/matrix.json."),
    ("index", Listing, INDEX_SCHEMA, "What the index offered when last asked: reports/index.json."),
    ("changes", Changes, CHANGES_SCHEMA, "What a watch found: reports/changes.json."),
    ("diff", Diff, DIFF_SCHEMA, "What differs between two releases, runs, machines or builds."),
    ("bisection", Bisection, BISECTION_SCHEMA, "Where a case changes along the releases."),
    ("explanation", Explanation, EXPLANATION_SCHEMA, "What a pasted CheckpointError means: recompat explain."),
    ("try", Attempt, TRY_SCHEMA, "How a file from elsewhere ends along the releases: recompat try."),
    ("versions", Versions, VERSIONS_SCHEMA, "What there is of torch: recompat versions."),
)


def generate() -> dict[str, str]:
    """Make the text of every schema, by file name."""
    return {f"{name}-1.json": _text(_schema(kind, version, name, what)) for name, kind, version, what in KINDS}


def _schema(kind: type[msgspec.Struct], version: str, name: str, description: str) -> Schema:
    made = msgspec.json.schema(kind)
    definitions: dict[str, Schema] = made["$defs"]
    for title, definition in definitions.items():
        if "properties" in definition:  # what has a default is written all the same
            definition["required"] = [
                field for field in definition["properties"] if (title, field) not in LATER and field != AXIS
            ]
            for field in definition["properties"].values():
                field.pop("default", None)
    definitions[kind.__name__]["properties"]["schema"] = {"const": version}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:recompat:{name}:1"}
    return {**head, "title": f"recompat {name}", "description": description, **made}


def _text(schema: Schema) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
