"""What installing recompat brings: alone nothing but itself, which is all that the guard needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recompat import __version__
from recompat.templates import SHARED
from support.environment import isolated, make_environment, uv

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of recompat as it stands here."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The python of an environment into which that wheel was installed, with no index to be reached."""
    folder = tmp_path_factory.mktemp("alone")
    return make_environment(folder / "venv", str(wheel), env=isolated(folder / "home"))


def run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment, which sees no other packages."""
    command = [str(python), *arguments]
    env = isolated(cwd / "home")
    return subprocess.run(command, cwd=cwd, env=env, check=False, text=True, capture_output=True, timeout=60)


def test_nothing_else_comes(alone: Path, tmp_path: Path) -> None:
    listed = uv("pip", "list", "--format", "freeze", "--python", str(alone), env=isolated(tmp_path / "home"))
    assert listed.stdout == f"recompat=={__version__}\n"


def test_the_guard_lacks_torch_alone(alone: Path, tmp_path: Path) -> None:
    done = run(alone, "-c", "import recompat.guard", cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'torch'"


@pytest.mark.parametrize(
    "arguments",
    [
        ["init"],
        ["--print-completion", "bash"],
        ["versions"],
        ["show", "x"],
        ["report"],
        ["explain", "-"],
        ["accept"],
        ["try", "x.py"],
    ],
)
def test_the_command_says_what_to_install(arguments: Sequence[str], alone: Path, tmp_path: Path) -> None:
    (tmp_path / "matrix").mkdir()
    (tmp_path / "matrix" / "matrix.toml").touch()
    done = run(alone.with_name("recompat"), *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("recompat: This needs more than recompat alone: ")
    assert done.stderr.endswith(' is not installed; python -m pip install "recompat[run]" brings it.\n')
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--version"], f"recompat {__version__}\n"),
        (["--help"], "usage: recompat "),
        (["show", "--help"], "usage: recompat show "),
    ],
)
def test_help_needs_nothing_else(arguments: Sequence[str], printed: str, alone: Path, tmp_path: Path) -> None:
    done = run(alone.with_name("recompat"), *arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(printed)


def test_a_mistyped_command_is_told_all_the_same(alone: Path, tmp_path: Path) -> None:
    done = run(alone.with_name("recompat"), "shwo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (4, "recompat: There is no command shwo; did you mean show?\n")


def test_the_wheel_has_no_file_but_code_schemas_and_templates(wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    others = {Path(name).suffix for name in names if "/schemas/" not in name and "/templates/" not in name}
    assert {name.partition("/")[0] for name in names} == {"recompat", "recompat_probe"}
    for name, path in SHARED.items():
        assert zipfile.ZipFile(wheel).read(f"recompat/templates/{name}") == (ROOT / path).read_bytes()
    assert others <= {".py", ".css", ".js", ".j2"}
