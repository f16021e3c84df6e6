"""What the tests start sees nothing of this machine's settings, and reaches nothing but loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.environment import NOWHERE, isolated, make_environment, uv

if TYPE_CHECKING:
    from pathlib import Path

LEAKS = ["UV_FIND_LINKS", "PIP_FIND_LINKS", "PYTHONPATH", "GITHUB_STEP_SUMMARY", "VIRTUAL_ENV", "CI", "FORCE_COLOR"]


@pytest.mark.parametrize("name", LEAKS)
def test_settings_are_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv(name, "1")
    assert name not in isolated(tmp_path)


def test_everything_is_written_below_home(tmp_path: Path) -> None:
    env = isolated(tmp_path)
    code = "import pathlib, tempfile; print(pathlib.Path.home(), tempfile.gettempdir())"
    done = subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True, check=True)
    assert done.stdout.split() == [str(tmp_path), str(tmp_path / "tmp")]
    for kind in ("cache", "python"):
        assert uv(kind, "dir", env=env).stdout.startswith(str(tmp_path))


def test_pip_has_no_configuration(tmp_path: Path) -> None:
    assert isolated(tmp_path)["PIP_CONFIG_FILE"] == os.devnull


def test_no_network_but_loopback(tmp_path: Path) -> None:
    code = "import urllib.request; urllib.request.urlopen('http://recompat.invalid/', timeout=20)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=isolated(tmp_path), text=True, capture_output=True, check=False)
    assert "Connection refused" in done.stderr


def test_a_failed_install_says_why(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=NOWHERE):
        make_environment(tmp_path / "venv", "torch==9.0.0", env=isolated(tmp_path / "home"))
