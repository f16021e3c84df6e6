"""Which build this is."""

from __future__ import annotations

from torch._build import CUDA as cuda  # noqa: N811  (torch's own name)
from torch._build import HIP as hip  # noqa: N811
from torch._build import VERSION as __version__  # noqa: N811
from torch._build import XPU as xpu  # noqa: N811

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

debug = False
git_version = "0123456789abcdef0123456789abcdef01234567"
