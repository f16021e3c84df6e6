"""Has a case, and nothing to compare it with."""


def inputs():
    return ()


def case_alone():
    return {}
