"""Sleeps for five minutes."""

import time


def inputs():
    return ()


def reference():
    return {}


def case_sleeps():
    time.sleep(300)
    return {}
