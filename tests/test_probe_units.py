"""Parts of the probe that stand alone: facts by build, and the folders that are not told."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from recompat_probe.facts import cpu_capability, flavour, packages
from recompat_probe.places import Places
from recompat_probe.requires import absent, absent_tools

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ({"cuda": None, "hip": None}, "cpu"),
        ({}, "cpu"),
        ({"cuda": "13.0", "hip": None, "xpu": None}, "cu130"),
        ({"cuda": None, "hip": "6.4.43482-0f2d60242"}, "rocm6.4"),
        ({"cuda": None, "hip": None, "xpu": "20250301"}, "xpu"),
    ],
)
def test_the_flavour_is_named_as_the_indexes_do(version: dict[str, str | None], name: str) -> None:
    assert flavour(SimpleNamespace(**version)) == name


def test_the_cpu_capability_of_old_builds_stands_in_their_description() -> None:
    def build(text: str) -> SimpleNamespace:
        return SimpleNamespace(backends=SimpleNamespace(), __config__=SimpleNamespace(show=lambda: text))

    assert cpu_capability(build("  - CPU capability usage: AVX2\n  - CUDA")) == "AVX2"
    assert cpu_capability(build("")) == "unknown"


def test_of_two_packages_with_one_name_the_one_that_would_be_imported_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, version in (("first", "1"), ("second", "2")):
        (tmp_path / folder / "same.dist-info").mkdir(parents=True)
        (tmp_path / folder / "same.dist-info" / "METADATA").write_text(f"Name: same\nVersion: {version}\n")
    (tmp_path / "first" / "half_removed.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert packages() == {"same": "1"}


@pytest.mark.parametrize(
    ("requirement", "sentences"),
    [
        ("json.dumps", []),
        ("json.dumps(indent)", []),
        ("xml.dom.minidom.parse", []),  # a module that nothing has imported yet
        ("json.dumps(kw)", ["json.dumps has no parameter kw."]),  # it has **kw
        ("json.dumps(colour)", ["json.dumps has no parameter colour."]),
        ("json.paint", ["There is no json.paint."]),
        ("json.paint.brush", ["There is no json.paint, so no json.paint.brush."]),
        ("json.dumps.paint", ["There is no json.dumps.paint."]),
        ("no_such_module.name", ["There is no no_such_module, so no no_such_module.name."]),
        ("sys.maxsize(x)", ["sys.maxsize has no signature that could name x."]),
    ],
)
def test_requirements_are_probed_by_name(requirement: str, sentences: list[str]) -> None:
    assert absent([requirement, requirement]) == sentences


def test_a_compiler_is_looked_for_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    sentences = ["There is no C++ compiler on PATH (c++, g++, clang++, cl)."]
    assert absent_tools(["compiler", "compiler"]) == sentences
    assert absent_tools([]) == []
    for name in ("g++", "my-c++"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("CXX", name)
        assert absent_tools(["compiler"]) == []
        (tmp_path / name).unlink()
    assert absent_tools(["compiler"]) == sentences


def test_a_module_that_is_there_and_breaks_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "breaks_when_imported.py").write_text("import no_such_module")
    (tmp_path / "breaks_otherwise.py").write_text("raise OSError('libx.so')")
    monkeypatch.syspath_prepend(tmp_path)
    assert absent(["breaks_when_imported.name", "breaks_otherwise.name"]) == [
        "breaks_when_imported cannot be imported (builtins.ModuleNotFoundError: No module named 'no_such_module').",
        "breaks_otherwise cannot be imported (builtins.OSError: libx.so).",
    ]


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setattr(sys, "prefix", "/home/ada/env")
    monkeypatch.setattr(sys, "base_prefix", "/opt/python")
    monkeypatch.setattr(sys, "path", ["", "/opt/python/lib", "/home/ada/env/lib/site-packages"])
    monkeypatch.setenv("HOME", "/home/ada")
    return Places("/home/ada/cases/file.py")


@pytest.mark.parametrize(
    ("text", "neutral"),
    [
        ("/home/ada/cases/file.py", "<cases>/file.py"),
        ("in /home/ada/cases.", "in <cases>."),
        ("'/home/ada/env/lib'", "'<env>/lib'"),
        ("/opt/python/lib/x.py:3", "<python>/lib/x.py:3"),
        ("file:///home/ada/x", "file://~/x"),
        ("/home/adam/x /home/ada-2 /home/ada.bak", "/home/adam/x /home/ada-2 /home/ada.bak"),
        ("/mnt/home/ada/x", "/mnt/home/ada/x"),
    ],
)
def test_folders_get_labels(places: Places, text: str, neutral: str) -> None:
    assert places.neutral(text) == neutral


def test_every_string_is_cleaned(places: Places) -> None:
    data = {"a": ["/home/ada/x", ("/home/ada/y", None, 1.5)], "b": {"c": "/opt/python"}}
    assert places.cleaned(data) == {"a": ["~/x", ["~/y", None, 1.5]], "b": {"c": "<python>"}}


def test_a_cut_does_not_depend_on_the_folder(places: Places) -> None:
    long = Places("/home/ada/another/much/longer/folder/file.py")
    text = "{}/x" + "y" * 9_999
    expected = places.cleaned(text.format("/home/ada/cases"))
    assert long.cleaned(text.format("/home/ada/another/much/longer/folder")) == expected


@pytest.mark.parametrize(
    ("filename", "short"),
    [
        ("/home/ada/env/lib/site-packages/torch/utils/checkpoint.py", "torch/utils/checkpoint.py"),
        ("/home/ada/cases/file.py", "file.py"),
        ("/opt/python/lib/json/decoder.py", "json/decoder.py"),
        ("/somewhere/else.py", "else.py"),
        ("<string>", "<string>"),
    ],
)
def test_source_files_are_shown_as_they_are_imported(places: Places, filename: str, short: str) -> None:
    assert places.short(filename) == short


def test_links_to_a_folder_are_seen_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    places = Places(str(tmp_path / "link" / "file.py"))
    assert places.neutral(os.path.realpath(tmp_path / "link" / "file.py")) == "<cases>/file.py"


def test_a_home_that_is_the_root_does_not_label_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert Places("/cases/file.py").neutral("/etc/passwd") == "/etc/passwd"
