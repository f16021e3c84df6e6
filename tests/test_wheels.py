"""The main job on real PyTorch wheels: every cell of the oldest default release, and of 2.11.0."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parents[1]
CHECKPOINT_ERROR = "torch.utils.checkpoint.CheckpointError"
CASES = (
    "math_around_forward_only",
    "math_around_forward_and_backward",
    "math_through_context_fn",
    "math_inside_function",
    "default_policy",
    "reentrant_math_around_forward_only",
    "unchecked_math_around_forward_only",
    "rank3_math_around_forward_only",
)
PASS, UNSUPPORTED = ("pass", None), ("unsupported", None)
EXPECTED = {
    "2.0.1": (PASS, PASS, UNSUPPORTED, PASS, PASS, PASS, UNSUPPORTED, PASS),
    "2.11.0": (
        ("raises", CHECKPOINT_ERROR),
        PASS,
        PASS,
        PASS,
        PASS,
        PASS,
        ("raises", "builtins.RuntimeError"),
        PASS,
    ),
}
DEFAULT = 28  # cases that matrix.toml names
ALONE = "import sdpa_policy as f; f.case_{name}(*f.inputs())"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the project, removed afterwards: pytest would keep gigabytes."""
    root = tmp_path_factory.mktemp("wheels") / "project"
    for name in ("src", "matrix"):
        shutil.copytree(ROOT / name, root / name)
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    yield root
    shutil.rmtree(root, ignore_errors=True)


# What the wheel itself says of its files: without the start scripts, and what the installer notes of itself.
DIGEST = r"""
grep -vE '^\.\./|\.dist-info/(INSTALLER|RECORD|REQUESTED|direct_url\.json|uv_cache\.json),' "$1" | LC_ALL=C sort | head -c -1 | sha256sum
"""


def nox(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``nox -s matrix`` with the wheels that this machine can get."""
    command = [sys.executable, "-m", "nox", "-s", "matrix", "--", *arguments]
    environ = {**os.environ, "NOX_SCRIPT_MODE": "none"}
    return subprocess.run(command, cwd=project, env=environ, text=True, capture_output=True, check=False, timeout=1800)


@pytest.fixture(scope="module", params=EXPECTED)
def run(project: Path, request: pytest.FixtureRequest) -> Iterator[tuple[str, dict[str, Any], Path]]:
    """A release that ``nox -s matrix`` has run: its name, its matrix.json, and the environment, kept for the moment."""
    release = request.param
    done = nox(project, "--torch", release, "--keep")
    assert done.returncode == 0, done.stdout + done.stderr
    (environment,) = (project / ".nox").glob("probe-*")
    yield release, json.loads((project / "reports" / "matrix.json").read_bytes()), environment / "bin" / "python"
    shutil.rmtree(environment)


def test_every_cell(run: tuple[str, dict[str, Any], Path]) -> None:
    release, matrix, _ = run
    mission = [cell for cell in matrix["cells"] if cell["case"].startswith("sdpa_policy::")]
    cells = {cell["case"]: (cell["outcome"], cell["exception"]) for cell in mission}
    assert cells == {f"sdpa_policy::{name}": cell for name, cell in zip(CASES, EXPECTED[release], strict=True)}
    assert all(cell["max_abs_diff"] < 1e-6 for cell in mission if cell["outcome"] == "pass")
    assert len(matrix["cells"]) == DEFAULT
    assert {cell["verdict"] for cell in matrix["cells"]} == {"expected"}


def test_what_was_tested_is_proven(run: tuple[str, dict[str, Any], Path]) -> None:
    release, matrix, python = run
    (environment,) = matrix["environments"]
    assert environment["torch"] == release
    assert environment["imported"].partition("+")[0] == release
    record = next(python.parents[1].glob("lib/*/site-packages/torch-*.dist-info/RECORD"))
    digest = subprocess.run(
        ["sh", "-c", DIGEST, "sh", record], text=True, capture_output=True, check=True
    ).stdout.split()[0]
    assert environment["distribution_sha256"] == digest


def test_the_mismatch_of_the_mission(run: tuple[str, dict[str, Any], Path]) -> None:
    release, matrix, _ = run
    (cell,) = [cell for cell in matrix["cells"] if cell["case"] == "sdpa_policy::math_around_forward_only"]
    if release == "2.0.1":
        assert cell["mismatches"] == []
    else:
        first = cell["mismatches"][0]
        assert (first["position"], first["saved"]["shape"], first["recomputed"]["shape"]) == (
            0,
            [2, 4, 8],
            [1, 2, 8, 4],
        )
        assert cell["phase"] == "backward"


@pytest.mark.parametrize("name", CASES)
def test_the_case_file_runs_alone(run: tuple[str, dict[str, Any], Path], project: Path, name: str) -> None:
    _, matrix, python = run
    (cell,) = [cell for cell in matrix["cells"] if cell["case"] == f"sdpa_policy::{name}"]
    command = [str(python), "-c", ALONE.format(name=name)]
    done = subprocess.run(command, cwd=project / "matrix" / "cases", text=True, capture_output=True, check=False)
    if cell["outcome"] == "pass":
        assert done.returncode == 0, done.stderr
    else:  # where an API is missing, the case alone raises the TypeError of calling it
        exception = cell["exception"] or "builtins.TypeError"
        assert done.returncode == 1
        assert f"{exception.removeprefix('builtins.')}: " in done.stderr


def test_the_case_that_init_lays(run: tuple[str, dict[str, Any], Path]) -> None:
    release, _, python = run
    code = (
        "import block as f\n"
        "try: f.case_policy_around_forward(*f.inputs())\n"
        "except Exception as error: print(type(error).__name__)\n"
        "import torch; done, wanted = f.case_policy_around_step(*f.inputs()), f.reference(*f.inputs())\n"
        "print(all(torch.equal(g, wanted['gradients'][name]) for name, g in done['gradients'].items()))"
    )
    folder = ROOT / "src" / "recompat" / "templates"
    done = subprocess.run(
        [python, "-B", "-c", code], cwd=folder, text=True, capture_output=True, check=False, timeout=60
    )
    if release == "2.0.1":  # it has no torch.nn.attention, and the file says that it needs that
        assert "No module named 'torch.nn.attention'" in done.stderr
    else:
        assert (done.stdout.split(), done.returncode) == (["CheckpointError", "True"], 0), done.stderr


def test_a_second_run_has_nothing_to_do(project: Path) -> None:
    done = nox(project, "--torch", "2.0.1,2.11.0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "probe(" not in done.stderr
    assert f"expected {2 * DEFAULT} (of {2 * DEFAULT})" in done.stdout
