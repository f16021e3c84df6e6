"""Defines no case."""


def inputs():
    return ()


def reference():
    return {}
