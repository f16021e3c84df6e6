"""Completion of the ``recompat`` command in a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recompat.cli import SHELLS

ROOT = Path(__file__).parent.parent
ASK = """
eval "$(recompat --print-completion bash)"
words=($1)
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
complete -p recompat | grep -q -- "-F _python_argcomplete" || exit 9
_python_argcomplete recompat
printf '%s\\n' "${COMPREPLY[@]}"
"""


def bash(script: str, *arguments: str, cwd: Path) -> str:
    """Run a script where ``recompat`` is on PATH."""
    (cwd / "bin").mkdir()
    command = cwd / "bin" / "recompat"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m recompat "$@"\n')
    command.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": f"{command.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *arguments],
        cwd=cwd,
        env=env,
        check=False,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("recompat rep", ["report", "reproduce"]),
        ("recompat show --tor", ["--torch"]),
        ("recompat versions --format mark", ["markdown"]),
        ("recompat --print-completion z", ["zsh"]),
        ("recompat explain tra", ["train.log"]),
        ("recompat nothing-like-it", []),
    ],
)
def test_a_tab_completes(line: str, completed: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.log").touch()
    assert [word.strip() for word in bash(ASK, line, cwd=tmp_path).split()] == completed


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell: str, tmp_path: Path) -> None:
    printed = bash(f"recompat --print-completion {shell}", cwd=tmp_path)
    assert "_ARGCOMPLETE" in printed
    assert "recompat" in printed
