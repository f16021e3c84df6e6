"""An environment with a real PyTorch wheel, built as recompat builds it."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from recompat.environment import Build, build_environment, drop_environment, python_of
from recompat.matrix import load_matrix
from recompat.sources import configured_folders, find_sources
from recompat.wheels import choose_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["real_environment"]

MATRIX = Path(__file__).parents[2] / "matrix" / "matrix.toml"


@contextlib.contextmanager
def real_environment(release: str, folder: Path) -> Iterator[Path]:
    """Build the environment of a release in ``folder``, give its python, and drop it: pytest would keep gigabytes."""
    matrix, location = load_matrix(MATRIX), folder / "environment"
    wheel = choose_wheel(Version(release), find_sources("auto", configured_folders(), matrix.cpu_index))
    build = Build(release, wheel, matrix.packages_for(Version(release)))
    try:
        build_environment(location, build, folder / "install.log")
        python = python_of(location)
        subprocess.run([python, "-I", "-W", "ignore", "-c", "import torch._dynamo"], check=True)  # byte-compiles
        yield python
    finally:
        drop_environment(location)
