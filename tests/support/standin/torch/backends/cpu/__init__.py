"""What the CPU can do."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """The instruction set that kernels are picked by."""
    return "DEFAULT"
