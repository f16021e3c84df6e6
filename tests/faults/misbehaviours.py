"""What a case can do to the process that runs it, and how it has to be told."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["LIMIT", "MEMORY", "MISBEHAVIOURS", "Misbehaviour"]

LIMIT: Final = 5  # seconds of a trial
PATIENT: Final = 60  # where what is told is searched, from end to end, for names of folders
MEMORY: Final = "600 MiB"
HEAD = '''\
"""A case that misbehaves, and two that do not."""

import atexit
import ctypes
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings


def inputs():
    return ()


def reference():
    return {"done": True}


def case_before():
    return {"done": True}


'''
TAIL = """
    return {"done": True}


def case_after():
    return {"done": True}
"""


class Misbehaviour(NamedTuple):
    """What a case does, how it ends, and a part of what is told of it: its detail, or the message of what it raised.

    ``limit`` is the seconds that it needs at most, or those after which it is ended.
    """

    name: str
    body: str
    outcome: str = "pass"
    told: str = ""
    raised: str | None = None
    limit: int = LIMIT

    @property
    def source(self) -> str:
        """The case file."""
        lines = "\n".join(f"    {line}".rstrip() for line in self.body.strip().splitlines())
        return f"{HEAD}def case_misbehaves():\n{lines}{TAIL}"


def _timeout(name: str, body: str) -> Misbehaviour:
    return Misbehaviour(name, body, "timeout", f"no result within {LIMIT} s")


def _crash(name: str, body: str, told: str) -> Misbehaviour:
    return Misbehaviour(name, body, "crash", told)


def _raises(name: str, body: str, raised: str, told: str = "") -> Misbehaviour:
    return Misbehaviour(name, body, "raises", told, raised)


DAEMON = """\
command = [sys.executable, "-c", "import time; time.sleep(300)"]
subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""
ORPHAN = """\
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        time.sleep(300)
    os._exit(0)
os.wait()
"""
FORKS = """\
for _ in range(60):
    if os.fork() == 0:
        os.fork()
        time.sleep(300)
        os._exit(0)
"""
SLEEPERS = """\
for _ in range(30):
    threading.Thread(target=time.sleep, args=(300,)).start()
"""
CLOCK = """\
time.time = time.monotonic = time.perf_counter = lambda: {reading}
time.sleep = lambda seconds: None
"""
SAYS_BADLY = """\
class Bad(Exception):
    def __str__(self):
        {body}

raise Bad
"""
DEEP_IN_C = """\
class Deep:
    def __repr__(self):
        return repr(self)

sys.setrecursionlimit(10**9)
threading.stack_size(1 << 20)
thread = threading.Thread(target=repr, args=(Deep(),))
thread.start()
thread.join()
"""
DEAF = """\
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True:
    pass
"""
SAYS_MUCH = 'raise ValueError("x" * 100_000_000)'
SCRIBBLES = """\
for descriptor in range(256):
    try:
        os.write(descriptor, b'{"event": "end"}\\n')
    except OSError:
        pass
"""

MISBEHAVIOURS: Final = (
    _crash("aborts", "os.abort()", "ended by SIGABRT"),
    _crash("segfaults", "ctypes.string_at(0)", "ended by SIGSEGV"),
    _crash("overflows_the_stack", DEEP_IN_C, "ended by SIGSEGV"),
    _raises("recurses", "def deeper(): return deeper()\ndeeper()", "builtins.RecursionError"),
    _crash("exits", "os._exit(3)", "exited with status 3"),
    _crash("exits_well", "os._exit(0)", "exited with status 0"),
    _crash("exits_as_the_probe_does", "os._exit(70)", "exited with status 70"),
    _crash("divides_in_c", "os.kill(os.getpid(), signal.SIGFPE)", "ended by SIGFPE"),
    _timeout("loops", "while True:\n    pass"),
    _timeout("loops_in_c", "sum(itertools.repeat(0))"),
    _timeout("backtracks", 're.match("(a+)+b", "a" * 64)'),
    _timeout("is_deaf", DEAF),
    _timeout("stops_itself", "os.kill(os.getpid(), signal.SIGSTOP)"),
    _timeout("prints_forever", 'while True:\n    os.write(1, b"endless\\n" * 1000)'),
    Misbehaviour("prints_junk", "os.write(2, bytes(range(256)) * 4000)\nos.write(1, os.urandom(1_000_000))"),
    Misbehaviour("forks", FORKS),
    Misbehaviour("leaves_a_daemon", DAEMON),
    Misbehaviour("leaves_an_orphan", ORPHAN),
    Misbehaviour("leaves_threads", SLEEPERS),
    Misbehaviour("never_leaves", "atexit.register(time.sleep, 300)"),
    Misbehaviour("closes_all", "os.closerange(0, 256)"),
    Misbehaviour("closes_its_streams", "sys.stdout.close()\nsys.stderr.close()\nsys.stdin.close()"),
    Misbehaviour("scribbles", SCRIBBLES),
    # The trials of a replay work in one folder: this is run with others than those that write there.
    Misbehaviour("removes_its_folder", "shutil.rmtree(os.getcwd())", limit=PATIENT),
    Misbehaviour("litters", 'open("litter", "w").close()'),
    Misbehaviour("turns_back_the_clock", CLOCK.format(reading="-1e12")),
    Misbehaviour("turns_the_clock_on", CLOCK.format(reading="1e12")),
    _crash("is_at_no_time", CLOCK.format(reading='float("nan")') + "os._exit(1)", "exited with status 1"),
    _raises("cannot_say", SAYS_BADLY.format(body="raise ValueError"), "Bad", "str() of it raised builtins.ValueError"),
    _timeout("says_forever", SAYS_BADLY.format(body='while True: "more"')),
    _raises("says_100_mb", SAYS_MUCH, "builtins.ValueError", "more characters")._replace(limit=PATIENT),
    Misbehaviour("warns_of_100_mb", 'warnings.warn("x" * 100_000_000)', limit=PATIENT),
    _raises("takes_all_memory", "held = []\nwhile True:\n    held.append(bytearray(1 << 24))", "builtins.MemoryError"),
    _raises("asks_for_all_memory", "bytearray(1 << 40)", "builtins.MemoryError"),
)
