"""Defines one case twice."""


def inputs():
    return ()


def reference():
    return {"which": 1}


def case_same():
    return {"which": 1}


def case_same():  # noqa: F811  (that is the point)
    return {"which": 2}
