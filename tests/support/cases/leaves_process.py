"""Leaves a helper process behind, as compiling does."""

import subprocess
import sys


def inputs():
    return ()


def reference():
    return {"done": True}


def case_leaves_process():
    """The helper holds on to standard output for a minute."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    return {"done": True}
