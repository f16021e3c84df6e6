"""What ``recompat init`` lays into a project, and what it derives that from."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["SHARED", "template", "template_path"]

SHARED: Final = {"recompat.yml": ".github/workflows/recompat.yml", "library.toml": "matrix/matrix.toml"}
"""What this project uses itself: the files of its checkout that a wheel has here, under the names that come first."""


def template(name: str) -> str:
    """The text of one."""
    return template_path(name).read_text(encoding="utf-8")


def template_path(name: str) -> Path:
    """Where one is: in the wheel, or in the checkout."""
    path = Path(__file__).with_name(name)
    if name in SHARED and not path.exists():
        path = Path(__file__).parents[3] / SHARED[name]
    return path
