"""Gives a warning that its reference gives too, and one of its own."""

import warnings


def inputs():
    return ()


def reference():
    warnings.warn("an old habit", DeprecationWarning, stacklevel=1)
    return {"done": True}


def case_warns():
    warnings.warn("an old habit", DeprecationWarning, stacklevel=1)
    warnings.warn("a new one", FutureWarning, stacklevel=1)
    return {"done": True}
