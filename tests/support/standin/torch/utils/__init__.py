"""Helpers."""

from __future__ import annotations

from torch.utils import checkpoint

__all__ = ["checkpoint"]
