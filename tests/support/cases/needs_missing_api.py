"""Needs an API that no release has."""

REQUIRES = ("torch.utils.no_such_module.no_such_function",)


def inputs():
    return ()


def reference():
    return {}


def case_never_runs():
    raise AssertionError("a case whose API is missing was run")
