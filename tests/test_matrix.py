from __future__ import annotations

import os
from pathlib import Path

import pytest
from packaging.version import Version

from recompat.errors import ConfigurationError, ExitCode
from recompat.matrix import Matrix, load_matrix

ROOT = Path(__file__).parents[1]

SOUND = """
[torch]
default = ["2.11.0", "2.1.2"]
known = ["2.9.1"]
[run]
timeout = 5
[sources]
cpu-index = "http://127.0.0.1:8000/cpu"
find-links = ["wheels"]
index-urls = ["http://127.0.0.1:8000/nightly"]
[[extras]]
torch = ">=2.1,<2.2"
packages = ["setuptools<81", "numpy<2"]
reason = "It imports pkg_resources."
[[extras]]
torch = ">=2.1"
packages = ["numpy<2"]
reason = "It warns without."
[[default]]
cases = ["patterns::one", "others::*"]
reason = "Most people meet them."
[[default]]
cases = ["patterns::one", "patterns::two"]
reason = "The rest."
"""


def load(folder: Path, text: str) -> Matrix:
    path = folder / "matrix.toml"
    path.write_text(text, encoding="utf-8")
    return load_matrix(path)


def faults(folder: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as raised:
        load(folder, text)
    assert raised.value.exit_code is ExitCode.USAGE
    return str(raised.value)


def with_torch(more: str) -> str:
    return f'[torch]\ndefault = ["2.11.0"]\n{more}'


def test_a_sound_file_is_read_in_version_order(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    matrix = load(tmp_path, SOUND)
    assert [str(version) for version in matrix.default] == ["2.1.2", "2.11.0"]
    assert [str(version) for version in matrix.releases] == ["2.1.2", "2.9.1", "2.11.0"]
    assert matrix.timeout == 5
    assert matrix.cpu_index == "http://127.0.0.1:8000/cpu"
    assert matrix.find_links == ((tmp_path / "wheels").resolve(),)
    assert matrix.index_urls == ("http://127.0.0.1:8000/nightly",)


def test_where_jobs_run(tmp_path: Path) -> None:
    matrix = load(tmp_path, with_torch('[ci]\nos = ["ubuntu-24.04", "macos-15"]\npython = ["3.11", "3.13t"]'))
    assert (matrix.ci.os, matrix.ci.python) == (("ubuntu-24.04", "macos-15"), ("3.11", "3.13t"))
    assert load(tmp_path, with_torch("")).ci.os == ("ubuntu-24.04",)
    told = faults(tmp_path, with_torch('[ci]\nos = ["ubuntu-latest"]\npython = ["3.8"]\nruns = 1'))
    assert "[ci] runs is not a known key" in told
    told = faults(tmp_path, with_torch('[ci]\nos = ["ubuntu-24.4"]\npython = ["3.8"]'))
    assert "[ci] os names 'ubuntu-24.4', which is no runner that is known; did you mean ubuntu-24.04?" in told
    assert "[ci] python names '3.8', on which recompat does not run" in told
    assert "[ci] os is empty" in faults(tmp_path, with_torch("[ci]\nos = []"))


def test_all_but_the_releases_has_defaults(tmp_path: Path) -> None:
    matrix = load(tmp_path, with_torch(""))
    assert (matrix.timeout, matrix.find_links, matrix.extras) == (60, (), ())
    assert matrix.cpu_index.startswith("https://")


@pytest.mark.parametrize(
    ("version", "packages"),
    [
        ("2.0.1", ()),
        ("2.1.2", ("setuptools<81", "numpy<2")),
        ("2.9.1", ("numpy<2",)),
        ("2.16.0.dev20261101", ("numpy<2",)),
    ],
)
def test_packages_follow_the_release(tmp_path: Path, version: str, packages: tuple[str, ...]) -> None:
    (tmp_path / "wheels").mkdir()
    assert load(tmp_path, SOUND).packages_for(Version(version)) == packages


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "[torch] is missing"),
        ("[torch]", "[torch] default is missing"),
        ("torch = 3", "[torch] is 3; write a table with the keys default, known."),
        ("[torch]\ndefault = []", "[torch] default is empty"),
        ('[torch]\ndefault = "2.11.0"', "[torch] default is '2.11.0'; write a list in brackets."),
        ('[torch]\ndefault = ["2.11.0", "newest"]', "[torch] default #2 is 'newest'; write a release such as"),
        ("[torch]\ndefault = [2.1]", "[torch] default #1 is 2.1; write a release such as"),
        ('[torch]\ndefault = ["2.1", "2.1.0"]', "name the release 2.1 2 times; keep one."),
        (with_torch('known = ["2.11.0"]'), "name the release 2.11.0 2 times; keep one."),
        ('[torch]\ndefault = ["2.11.0+cpu"]', "name the build 2.11.0+cpu; write the release 2.11.0."),
        (with_torch("knwon = []"), "[torch] knwon is not a known key; did you mean known?"),
        (with_torch("[rnu]"), "[rnu] is not a known key; did you mean run?"),
        (with_torch("[run]\ntimeout = 0"), "[run] timeout is 0; write a number above 0"),
        (with_torch("[run]\ntimeout = -3"), "[run] timeout is -3; write a number above 0"),
        (with_torch("[run]\ntimeout = inf"), "[run] timeout is inf; write a number above 0 and at most 86400."),
        (with_torch("[run]\ntimeout = nan"), "[run] timeout is nan; write a number above 0"),
        (with_torch("[run]\ntimeout = true"), "[run] timeout is True; write a number"),
        (with_torch('[run]\ntimeout = "60"'), "[run] timeout is '60'; write a number"),
        (with_torch('[sources]\ncpu-index = "wheels"'), "[sources] cpu-index is 'wheels'; write a URL"),
        (with_torch('[sources]\ncpu-index = "//[x"'), "[sources] cpu-index is '//[x'; write a URL"),
        (with_torch('[sources]\nindex-urls = ["u:p@host"]'), "[sources] index-urls names 'host'; write URLs such as"),
        (with_torch("[sources]\nfind-links = [1]"), "[sources] find-links #1 is 1; write text in quotes."),
        (with_torch('[sources]\nfind-links = ["gone"]'), "[sources] find-links names 'gone'"),
        (with_torch("[extras]"), "[extras] is {}; write a list in brackets."),
        (with_torch('[[extras]]\ntorch = ">2"\npackages = ["a"]'), "[[extras]] #1 reason is missing"),
        (with_torch('[[extras]]\ntorch = ">2"\npackages = ["a"]\nreason = " "'), "[[extras]] #1 reason is empty"),
        (with_torch('[[extras]]\ntorch = ">2"\npackages = []\nreason = "x"'), "[[extras]] #1 packages is empty"),
        (with_torch('[[extras]]\ntorch = ">2"\npackages = ["Torch==2"]\nreason = "x"'), "names torch itself"),
        (
            with_torch('[[extras]]\ntorch = "=>2"\npackages = ["a"]\nreason = "x"'),
            "[[extras]] #1 torch is '=>2'; write",
        ),
        (
            with_torch('[[extras]]\ntorch = ">2"\npackages = ["a b"]\nreason = "x"'),
            "packages #1 is 'a b'; write a requ",
        ),
        ("[torch]\ndefault = [", "line 2, is not valid TOML: Invalid value (at end of document); mend that line."),
        ("[torch]\ndefault = ", "line 2, is not valid TOML"),
        ("[torch]\n[torch]", "line 2, column 7, is not valid TOML"),
        ("a = " + "[" * 5000, "is nested too deeply"),
        ("\n" + ".a" * 30 + " = 1", ", line 2, is not valid TOML: A key of more than 20 parts; mend that line."),
        ("a" + ' . "b"' * 30 + " = 1", ", line 1, is not valid TOML: A key of more than 20 parts"),
        ("[torch]\ndefault = [0x" + "f" * 5000 + "]", "default #1 is a number of very many digits; write a release"),
        (f"a = '{'x' * (5 << 20)}'", "has more than 4 MiB, and is not read; make it smaller."),
        (with_torch(f'[sources]\nfind-links = ["{"x" * 5000}"]'), "is no folder; create it, or remove it here."),
        ("a = " + "9" * 5000, "is not valid TOML: Exceeds the limit"),
        (with_torch("[run]\ntimeout = 1" + "0" * 400), "[run] timeout is 1000"),
        ('[torch]\ndefault = ["' + "9" * 5000 + '"]', "[torch] default #1 is '9999"),
    ],
)
def test_a_fault_says_where_what_and_how_to_mend_it(tmp_path: Path, text: str, fault: str) -> None:
    assert fault in faults(tmp_path, text)


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = '[torch]\ndefault = ["x", "2.1", 7]\n[run]\ntimeout = 0\n[[extras]]\ntorch = "?"\n[[extras]]\npackages = []'
    with pytest.raises(ConfigurationError) as raised:
        load(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'matrix.toml'} has 8 faults")
    assert [fault.partition(" is ")[0] for fault in raised.value.faults] == [
        "[torch] default #1",
        "[torch] default #3",
        "[run] timeout",
        "[[extras]] #1 torch",
        "[[extras]] #1 packages",
        "[[extras]] #1 reason",
        "[[extras]] #2 torch",
        "[[extras]] #2 reason",
    ]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"There is no file .*matrix\.toml; create it"):
        load_matrix(tmp_path / "matrix.toml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_matrix(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "matrix.toml")
    with pytest.raises(ConfigurationError, match="it is no file"):
        load_matrix(tmp_path / "matrix.toml")


def test_of_very_many_faults_the_first_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="has 1000 faults; nothing was run") as raised:
        load(tmp_path, "\n".join(f"k{number} = 0" for number in range(5_000)))
    assert "and 950 more" in str(raised.value)


def test_text_in_another_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_bytes(b"# caf\xe9")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load_matrix(path)


def test_a_long_value_is_repeated_in_part(tmp_path: Path) -> None:
    assert len(faults(tmp_path, f'[torch]\ndefault = ["{"x" * 100_000}"]')) < 400


def test_this_projects_own_file() -> None:
    matrix = load_matrix(ROOT / "matrix" / "matrix.toml")
    assert [str(v) for v in matrix.default] == ["2.0.1", "2.1.2", "2.4.1", "2.8.0", "2.11.0", "2.13.0", "2.15.0"]
    assert matrix.packages_for(Version("2.0.1")) == ("numpy<2",)
    assert matrix.packages_for(Version("2.1.2")) == ("setuptools<81", "numpy<2")
    assert matrix.packages_for(Version("2.15.0")) == ("numpy",)


def test_the_default_cases_are_named_once(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    assert load(tmp_path, SOUND).default_cases == ("patterns::one", "others::*", "patterns::two")


def test_a_default_needs_cases_and_a_reason(tmp_path: Path) -> None:
    text = faults(tmp_path, '[torch]\ndefault = ["2.11.0"]\n[[default]]\ncases = []\nreason = " "\n')
    assert "[[default]] #1 cases is empty" in text
    assert "[[default]] #1 reason is empty" in text
