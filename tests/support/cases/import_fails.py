"""Cannot be imported."""

import no_such_module


def inputs():
    return ()


def reference():
    return {}


def case_never_runs():
    return no_such_module
