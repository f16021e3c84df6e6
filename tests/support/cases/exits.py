"""Ends its process without an exception (``os._exit``), or with one that is no ``Exception``."""

import os
import sys


def inputs():
    return ()


def reference():
    return {"done": True}


def case_os_exit():
    os._exit(3)


def case_os_exit_zero():
    os._exit(0)


def case_sys_exit():
    sys.exit("gone")


def case_after():
    return {"done": True}
