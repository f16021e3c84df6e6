"""What torch keeps in C++."""  # noqa: N999  (its name)

from __future__ import annotations

import contextlib


class DisableTorchFunction(contextlib.nullcontext[None]):
    """A scope without torch-function modes, of which there are none."""
