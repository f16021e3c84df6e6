"""Leaves a helper process behind, as compiling does."""

import subprocess
import sys


def inputs():
    return ()


def reference():
    return {"done": True}


def case_leaves_process():
    """The helper has ``recompat-helper`` on its command line and would live for five minutes."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", "recompat-helper"])
    return {"done": True}
