"""The programs that recompat runs."""

from __future__ import annotations

import functools
import shutil

from recompat.errors import ConfigurationError

__all__ = ["uv_binary"]


@functools.cache
def uv_binary() -> str:
    """The uv that came with ``nox[uv]``, or the one on PATH.

    Raises:
        ConfigurationError: there is none.
    """
    try:
        import uv
    except ImportError:
        found = shutil.which("uv")
    else:
        found = uv.find_uv_bin()
    if not found:
        raise ConfigurationError('uv is missing; install it with: python -m pip install "nox[uv]"')
    return found
