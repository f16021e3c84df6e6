"""What sets one wheel apart from another: the tests write this file anew for each wheel they build."""

from __future__ import annotations

VERSION = "9.0.0"
CUDA: str | None = None
HIP: str | None = None
XPU: str | None = None
BEHAVIOUR = "normal"
CHECKPOINTS: dict[str, str] = {}  # name of the checkpointed function -> its behaviour, ahead of BEHAVIOUR
RENAMED: dict[str, str] = {}  # name of an operator -> what this build calls it
ABSENT: list[str] = []  # what torch.utils.checkpoint does not have in this build
