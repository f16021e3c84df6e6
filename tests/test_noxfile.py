from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_noxfile_repeats_what_the_extra_needs() -> None:
    block = re.search(r"^# /// script\n(.*?)^# ///$", (ROOT / "noxfile.py").read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    script = tomllib.loads("".join(line[2:] + "\n" for line in block[1].splitlines()))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert script["dependencies"] == project["optional-dependencies"]["run"]
    assert project["dependencies"] == []
