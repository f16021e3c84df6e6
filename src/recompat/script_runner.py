"""Runs a plain script inside a torch environment and writes down how it ended. This docstring is the wire contract.

Started by path, with the standard library and what the probe has for it, Python 3.8 or newer::

    python -I -B -X faulthandler .../script_runner.py --out FILE PROBE SCRIPT

PROBE is the folder of ``recompat_probe``. The script is ``__main__``, its folder is the first place of imports, and it ends as it
would without this: exit hooks run, threads are waited for, the exit status is its own. FILE gets JSON Lines; what is
printed is a log and is never parsed.

``{"event": "started"}``
    Before the script is compiled.
``{"event": "warned", "category": "builtins.UserWarning", "text": "..."}``
    A warning that was shown; the first few.
``{"event": "raised", "raised": {"type": "...", "phase": "forward", "message": "...", "frames": []}, "at_exit": false}``
    An exception left the script, or an exit hook of it. The keys of ``raised`` are those of the probe's.
``{"event": "exit", "status": 3, "message": "3"}``
    It raised ``SystemExit``.
``{"event": "end"}``
    It came to its end, by itself or by one of these. Exit hooks are still to come.

Beside FILE stands ``FILE.stacks``: where its threads were when a signal ended it, as ``faulthandler`` writes it.
"""

# ruff: noqa: PTH118, PTH120, PTH123
# os.path costs the script no import.

import sys

if sys.version_info < (3, 8):  # noqa: UP036  (this may be any Python: so far the file is valid in all of them)
    sys.stderr.write("A script needs Python 3.8 or newer; this is Python " + sys.version.split()[0] + ".\n")
    sys.exit(90)

import builtins
import faulthandler
import importlib.util
import os
import signal
import types
import warnings

OUT, PROBE, SCRIPT = sys.argv[2:5]
SPEC = importlib.util.spec_from_file_location(
    "recompat_probe", os.path.join(PROBE, "__init__.py"), submodule_search_locations=[PROBE]
)
assert SPEC is not None
assert SPEC.loader is not None
sys.modules["recompat_probe"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sys.modules["recompat_probe"])

from dataclasses import asdict
from typing import Any

from recompat_probe.children import die_with_parent
from recompat_probe.places import Places
from recompat_probe.raised import describe, message, qualified
from recompat_probe.wire import Wire

MOST_WARNINGS = 20


class Notes:
    """Notes what happens in this process; one that the script forks ends where its parent went on, and has no say."""

    def __init__(self) -> None:
        self._wire = Wire(OUT)
        self._pid = os.getpid()
        self._places = Places(SCRIPT)
        self._warned: Any = set()

    def send(self, event: str, **content: Any) -> None:
        """Append an event."""
        if os.getpid() == self._pid:
            self._wire.send(event, **self._places.cleaned(content))

    def raised(self, error: BaseException, at_exit: bool) -> None:
        """Note an exception; its first frame is ours, and is left out."""
        self.send("raised", raised=asdict(describe(error, self._places)), at_exit=at_exit)

    def exit(self, error: SystemExit) -> None:
        """Note the status that the interpreter will end with: an object that is no number is printed and means 1."""
        status = 0 if error.code is None else error.code if isinstance(error.code, int) else 1
        self.send("exit", status=status & 0xFF, message=message(error.code))

    def warned(self, category: type, text: object) -> None:
        """Note a warning once."""
        found = (qualified(category), message(text))
        if found not in self._warned and len(self._warned) < MOST_WARNINGS:
            self._warned.add(found)
            self.send("warned", category=found[0], text=found[1])


def watch() -> None:
    """Have it written down where the threads are when a fatal signal comes, or the one that ends what takes too long."""
    stacks = open(f"{OUT}.stacks", "w")  # noqa: SIM115 - it is for as long as the process lives
    faulthandler.enable(stacks)
    if hasattr(faulthandler, "register"):  # not on Windows
        faulthandler.register(signal.SIGTERM, stacks, chain=True)


def listen(notes: Notes) -> None:
    """Hear of what is shown and of what exit hooks raise, and let both go on as they would."""
    show = warnings.showwarning

    def showwarning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        notes.warned(category, message)
        show(message, category, *rest, **more)

    def unraisable(found: Any) -> None:
        if (found.err_msg or "").startswith("Exception ignored in atexit") and found.exc_value is not None:
            ours = types.TracebackType(found.exc_traceback, sys._getframe(), 0, 0)
            notes.raised(found.exc_value.with_traceback(ours), at_exit=True)
        sys.__unraisablehook__(found)

    warnings.showwarning = showwarning
    sys.unraisablehook = unraisable


def run() -> None:
    """Be the script."""
    with open(SCRIPT, "rb") as file:
        source = file.read()
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=SCRIPT, __builtins__=builtins)
    sys.modules["__main__"] = main
    sys.argv = [SCRIPT]
    sys.path.insert(0, os.path.dirname(SCRIPT))
    exec(compile(source, SCRIPT, "exec", dont_inherit=True), main.__dict__)  # noqa: S102 - that is the task


def noted_run(notes: Notes) -> None:
    """Be the script, and note how it ends."""
    notes.send("started")
    try:
        run()
    except SystemExit as error:
        notes.exit(error)
        raise
    except BaseException as error:
        notes.raised(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next), at_exit=False)
        raise
    finally:
        notes.send("end")


if __name__ == "__main__":
    die_with_parent(os.getppid())
    NOTES = Notes()
    watch()
    listen(NOTES)
    noted_run(NOTES)
