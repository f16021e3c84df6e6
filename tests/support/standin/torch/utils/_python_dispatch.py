"""Modes that are asked about every operator."""

from __future__ import annotations

from torch._modes import TorchDispatchMode

__all__ = ["TorchDispatchMode"]
