from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recompat.errors import ConfigurationError
from recompat.options import parse_options

if TYPE_CHECKING:
    from pathlib import Path


def test_the_defaults() -> None:
    options = parse_options([])
    assert (options.torch, options.keyword, options.source, options.rerun, options.keep) == (
        None,
        None,
        "auto",
        False,
        False,
    )


def test_evidence_is_on_unless_said_otherwise() -> None:
    assert [parse_options(arguments).evidence for arguments in ([], ["--no-evidence"])] == [True, False]


def test_torch_may_be_repeated() -> None:
    assert parse_options(["--torch", "2.11.0", "--torch", ">=2.14"]).torch == "2.11.0,>=2.14"


def test_folders_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wheels").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse_options(["--find-links", "wheels"]).find_links == (tmp_path / "wheels",)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tourch", "2.11.0"],
        ["--timeout", "0"],
        ["--timeout", "soon"],
        ["--find-links", "/nowhere"],
        ["-j", "0"],
        ["-j", "-1"],
        ["-j", "x"],
        ["--source", "gpu"],
        ["stray"],
        ["--tor", "2"],
    ],
)
def test_bad_options_are_one_sentence(arguments: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="nox -s matrix -- --help lists the options") as caught:
        parse_options(arguments)
    assert "\n" not in str(caught.value)
