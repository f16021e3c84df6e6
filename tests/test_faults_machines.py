"""The short form of ``nox -s faults -- machines``: a few of the machines, and what a missing uv is told by."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest

from faults.machines import ALL, meet
from faults.promises import look
from faults.tally import Tally
from recompat import tools
from recompat.errors import ConfigurationError
from recompat.index import default_indexes
from recompat.sources import configured_folders

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

SHORT = ("without uv", "a cache of another user", "two runs at once")


@pytest.mark.parametrize("name", SHORT)
def test_the_matrix_is_as_elsewhere_or_one_sentence_says_why_not(finished: Project, tmp_path: Path, name: str) -> None:
    (one,) = [one for one in ALL if one.name == name]
    tally = Tally()
    meet(one, tmp_path / "met", finished.index, random.Random(1), look(finished.reports), tally)
    assert tally.injected == 1
    assert (tally.lost, tally.wrong, tally.left) == ([], [], [])


def test_a_package_of_uv_without_its_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "uv.py").write_text("def find_uv_bin():\n    raise FileNotFoundError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "uv", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    tools.uv_binary.cache_clear()
    with pytest.raises(ConfigurationError, match="uv is missing; install it with: "):
        tools.uv_binary()
    tools.uv_binary.cache_clear()


@pytest.mark.parametrize(
    "content",
    ["#!/nowhere/python\n", "\x7fELF", "#!/bin/sh\nexit 1\n", "#!/bin/sh\necho \"global.find-links='a'b'\"\n"],
)
def test_a_pip_that_does_not_work_has_no_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str) -> None:
    (tmp_path / "pip").write_text(content)
    (tmp_path / "pip").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    assert configured_folders() == []


def test_what_uv_names_does_not_depend_on_the_first_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://index.invalid/simple")
    assert default_indexes() == ("https://index.invalid/simple",)
