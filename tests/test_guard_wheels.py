"""The guard on real PyTorch wheels: what it tells, what it is silent about, and that it leaves torch as it was.

``RECOMPAT_TORCH_PYTHONS`` may name interpreters, as for the evidence: those that it does not name are installed.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.real import real_environment

pytestmark = pytest.mark.wheels

SRC = Path(__file__).parents[1] / "src"
SCENES = Path(__file__).parent / "support" / "guard" / "scenes.py"
PYTHONS = dict(pair.split("=", 1) for pair in filter(None, os.environ.get("RECOMPAT_TORCH_PYTHONS", "").split(",")))
RELEASES = sorted({"2.0.1", "2.15.0", *PYTHONS})
LINES = {
    "default_dtype_is_told": "default dtype: forward torch.float32, recompute torch.float64",
    "eval_is_told": "module Sequential: forward train, recompute eval",
    "context_is_told": "autocast cpu: forward bfloat16, recompute off",
}
POLICY = "SDPA policy: forward MATH, recompute MATH+FLASH+EFFICIENT"
ALLOWED = {"sdpa.flash": ["off", "on"], "sdpa.mem_efficient": ["off", "on"]}

Ended = dict[str, dict[str, Any]]


@pytest.fixture(scope="module", params=RELEASES)
def ended(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """How each scene ended on a release."""
    if request.param in PYTHONS:
        return run(Path(PYTHONS[request.param]))
    with real_environment(request.param, tmp_path_factory.mktemp("guard")) as python:
        return run(python)


def run(python: Path) -> Ended:
    """Run all scenes."""
    environment = {**os.environ, "PYTHONPATH": str(SRC), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [python, "-B", SCENES], env=environment, check=True, capture_output=True, text=True, timeout=600
    )
    scenes = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]
    return {scene["scene"]: scene for scene in scenes if not scene["lacking"]}


def ending_in(ended: Ended, *ends: str) -> Ended:
    """The scenes of some kind; there are some."""
    found = {name: scene for name, scene in ended.items() if name.endswith(ends)}
    assert found
    return found


def test_other_settings_are_told_and_named(ended: Ended) -> None:
    for name, scene in ending_in(ended, "_told", "warns", "logs").items():
        title, *lines = scene["message"].split("\n  ")
        assert (scene["error"], title[:17]) == ("SettingsChanged", "The recompute of "), scene
        assert [line.removesuffix("+CUDNN") for line in lines] == [LINES.get(name, POLICY)], scene


def test_the_changes_can_be_read(ended: Ended) -> None:
    changes = ended["reentrant_is_told"]["changes"]
    assert {name: pair for name, pair in changes.items() if name != "sdpa.cudnn"} == ALLOWED


def test_all_else_is_silent_and_torch_is_as_it_was(ended: Ended) -> None:
    for scene in ending_in(ended, "_silent", "_error", "_alone").values():
        assert scene["error"] is None, scene
