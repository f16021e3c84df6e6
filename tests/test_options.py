from __future__ import annotations

from pathlib import Path

import pytest

from recompat.errors import ConfigurationError
from recompat.options import parse_options


def test_the_defaults() -> None:
    options = parse_options([])
    assert (options.torch, options.keyword, options.source, options.rerun, options.keep) == (
        None,
        None,
        "auto",
        None,
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


def test_indexes_are_asked_in_the_order_of_the_line() -> None:
    urls = ("https://user:secret@host/test", "http://127.0.0.1:80/simple/")
    assert parse_options(["--index-url", urls[0], "--index-url", urls[1]]).index_urls == urls


@pytest.mark.parametrize("url", ["user:secret@host", "ftp://user:secret@host/simple"])
def test_what_is_no_index_is_told_without_a_login(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is no http or https URL; nox -s") as caught:
        parse_options(["--index-url", url])
    assert "secret" not in str(caught.value)


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


def test_a_file_is_named_with_a_format() -> None:
    options = parse_options(["--format", "junit", "--out", "junit.xml"])
    assert (options.format, options.out) == ("junit", Path("junit.xml"))
    with pytest.raises(ConfigurationError, match="--out needs --format; it takes one of html, markdown, "):
        parse_options(["--out", "junit.xml"])


def test_a_format_that_there_is_not() -> None:
    with pytest.raises(
        ConfigurationError, match=r"There is no format jnuit; did you mean junit\? The formats are html, "
    ):
        parse_options(["--format", "jnuit"])
    with pytest.raises(ConfigurationError, match=r"There is no format qqq; there is atom, .*, text\."):
        parse_options(["--format", "qqq"])
