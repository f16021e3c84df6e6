"""Ends its process by SIGABRT; the second case shows that the rest is run."""

import os


def inputs():
    return ()


def reference():
    return {"done": True}


def case_aborts():
    os.abort()


def case_after():
    return {"done": True}
