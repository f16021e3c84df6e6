"""How this build was made."""

from __future__ import annotations


def show() -> str:
    """The build settings, as torch lays them out."""
    return "PyTorch built with:\n  - stand-in\n  - CPU capability usage: DEFAULT\n"
