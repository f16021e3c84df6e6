"""Environments with a stand-in torch, and processes that see nothing of this machine's settings and of no network."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from uv import find_uv_bin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["NOWHERE", "isolated", "make_environment", "python_of", "uv"]

FORGOTTEN = ("UV_", "PIP_", "NOX", "PYTHON", "XDG_", "GITHUB_", "RECOMPAT_", "PYTEST_", "COV", "FORCE_COLOR", "CI")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
NOWHERE = "http://127.0.0.1:9"  # the discard port: whatever is not on loopback is refused at once


def isolated(home: Path, index_url: str = f"{NOWHERE}/simple/") -> dict[str, str]:
    """What a process gets as its environment: a home and caches of its own, ``index_url`` for uv, no network else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FORGOTTEN)}
    kept.pop("VIRTUAL_ENV", None)
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        **kept,
        **dict.fromkeys(PROXIES, NOWHERE),
        "no_proxy": "127.0.0.1,localhost",
        "NO_PROXY": "127.0.0.1,localhost",
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "UV_CACHE_DIR": str(home / "uv-cache"),
        "UV_DEFAULT_INDEX": index_url,
        "UV_HTTP_RETRIES": "0",
        "UV_HTTP_TIMEOUT": "5",
        "UV_NO_CONFIG": "1",
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_PYTHON_INSTALL_DIR": str(home / "pythons"),
    }


def uv(*args: str, env: Mapping[str, str], timeout: float = 30) -> subprocess.CompletedProcess[str]:
    """Run uv, whatever its exit code."""
    return subprocess.run([find_uv_bin(), *args], env=env, timeout=timeout, text=True, capture_output=True, check=False)


def make_environment(folder: Path, *requirements: str, env: Mapping[str, str]) -> Path:
    """Make a virtual environment of the running interpreter, install ``requirements``; return its python.

    Raises:
        AssertionError: uv could not; the message is what uv said.
    """
    made = uv("venv", "--quiet", "--python", sys.executable, str(folder), env=env)
    assert made.returncode == 0, made.stderr
    python = python_of(folder)
    if requirements:
        installed = uv("pip", "install", "--quiet", "--python", str(python), *requirements, env=env)
        assert installed.returncode == 0, installed.stderr
    return python


def python_of(folder: Path) -> Path:
    """The python of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
