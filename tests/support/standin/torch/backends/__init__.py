"""What the machine can do."""

from __future__ import annotations

from torch.backends import cpu

__all__ = ["cpu"]
