"""How a build misbehaves, and where: the names are those of ``Behaviour`` in the tests' support."""

from __future__ import annotations

import os
import sys
import time

from torch import _build

BOUND = 300  # seconds; long for a test, and yet nothing is left behind for good


def on_import() -> None:
    """What ``import torch`` meets first."""
    if _build.BEHAVIOUR == "import-aborts":
        os.abort()
    if _build.BEHAVIOUR == "import-hangs":
        time.sleep(BOUND)
    if _build.BEHAVIOUR == "import-raises":
        raise ImportError("libstandin.so.9: cannot open shared object file: No such file or directory")


def of_checkpoint(function: object) -> str:
    """The behaviour of a checkpoint of ``function``; aborts, hangs or raises at once if that is it."""
    behaviour = _build.CHECKPOINTS.get(getattr(function, "__name__", ""), _build.BEHAVIOUR)
    if behaviour == "aborts":
        os.abort()
    if behaviour == "hangs":
        time.sleep(BOUND)
    if behaviour == "needs-setuptools":
        __import__("pkg_resources")  # as 2.1 does, which does not say so in its metadata
    if behaviour == "process-dependent" and "torch._dynamo" not in sys.modules:
        raise AttributeError("'NoneType' object has no attribute 'guards'")
    if behaviour == "does-not-repeat" and ".verification-" not in sys.prefix:
        return "raises"
    return behaviour
