"""Values that options of both command lines take: of ``recompat``, and of what follows ``--`` on nox's."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["existing_folder"]


def existing_folder(text: str) -> Path:
    """Read the name of a folder that is there.

    Raises:
        ArgumentTypeError: it is not.
    """
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder")
    return Path(text).resolve()
