"""One replay: what a probe does from its arguments to its last event."""

from __future__ import annotations

import argparse
import functools
import importlib
import math
import os
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any, Callable, Sequence

from recompat_probe import facts
from recompat_probe.casefile import read_source
from recompat_probe.children import PROBE_FAILED, Children, die_with_parent, flush_log
from recompat_probe.places import Places
from recompat_probe.raised import message, qualified
from recompat_probe.tasks import Task, Watching
from recompat_probe.wire import Wire

if TYPE_CHECKING:
    from typing import NoReturn

    from recompat_probe.casefile import Source

__all__ = ["main"]

WIRE = 1
SYMPY = "sympy"  # the third of a cold trial's import that is not torch's own, and that no setting of torch can change
ONE_THREAD_NO_GPU = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}


def main(arguments: Sequence[str]) -> NoReturn:
    """Run a replay and end the process, without the teardown: torch's could still crash, after all is said."""
    options = _parse(arguments)
    del sys.argv[1:]  # no business of a trial
    status = PROBE_FAILED
    try:
        _settle()
        _replay(options)
        status = 0
    except BaseException:  # noqa: BLE001  (the process ends here, with a status of its own)
        traceback.print_exc()
    finally:
        flush_log()
        os._exit(status)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="recompat_probe", allow_abbrev=False)
    ways = ("fork", "none") if hasattr(os, "fork") else ("none",)
    parser.add_argument("--out", required=True, metavar="FILE", help="where the events go")
    parser.add_argument("--facts", action="store_true", help="only say what is installed")
    parser.add_argument("--warm", action="store_true", help="import torch._dynamo before the first trial")
    parser.add_argument("--evidence", action="store_true", help="run each case once more and watch it")
    parser.add_argument("--isolation", choices=ways, default=ways[0], help="a process per trial, or none")
    parser.add_argument("--jobs", type=_positive(int), default=1, metavar="N", help="forked children at once")
    parser.add_argument("--timeout", type=_positive(float), default=60.0, metavar="SECONDS", help="limit of a trial")
    parser.add_argument("cases", type=_address, nargs="*", metavar="FILE.py::case")
    return parser.parse_args(arguments)


def _settle() -> None:
    """Make the process plain: stopped by a signal at once, without input, and with what torch reads when imported."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    die_with_parent(os.getppid())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.environ.update(ONE_THREAD_NO_GPU)


def _replay(options: argparse.Namespace) -> None:
    wire = Wire(options.out)
    wire.send("header", wire=WIRE, **facts.interpreter())
    if _import_torch(wire):
        _warm_up("torch._dynamo" if options.warm or options.facts else SYMPY)
        if not options.facts:
            _run_cases(wire, options)
    wire.send("end")


def _import_torch(wire: Wire) -> bool:
    begun = time.perf_counter()
    try:
        import torch

        seconds = time.perf_counter() - begun
        torch.set_num_threads(1)
        build = facts.torch_build(torch)
    except BaseException as error:  # noqa: BLE001  (whatever a broken installation does)
        text = Places(__file__).cleaned(message(error))
        wire.send("import-failed", type=qualified(type(error)), message=text)
        return False
    wire.send("torch", **build, seconds=round(seconds, 3))
    return True


def _warm_up(name: str) -> None:
    """Import what the first ``checkpoint()`` of a process imports: ``torch._dynamo``, or only what that needs of others."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            traceback.print_exc()
    except Exception:  # noqa: BLE001  (where it fails, the trials will say so)
        traceback.print_exc()


def _run_cases(wire: Wire, options: argparse.Namespace) -> None:
    from recompat_probe.trial import run_trial  # imports torch, which must be here by now

    forks = options.isolation == "fork"
    run = Children(wire, options.jobs, options.timeout).run if forks else functools.partial(_run_here, wire)
    run(_tasks(Task, run_trial, options.cases))
    if options.evidence:
        from recompat_probe.evidence import run_watched  # not before the last trial was forked, to which it is unknown

        run(_tasks(Watching, run_watched, options.cases))


def _tasks(
    kind: type[Task], run: Callable[[Source, str], dict[str, Any]], cases: Sequence[tuple[Source, str]]
) -> list[Task]:
    return [
        kind(f"{source.stem}::{name}", source.sha256, functools.partial(run, source, name)) for source, name in cases
    ]


def _run_here(wire: Wire, tasks: Sequence[Task]) -> None:
    for task in tasks:
        task.started(wire)
        begun = time.monotonic()
        result = task.run()
        task.finished(wire, time.monotonic() - begun, result)


def _address(text: str) -> tuple[Source, str]:
    """Read ``FILE.py::case`` of the command line, and the file."""
    path, separator, name = text.rpartition("::")
    if not (path and separator and name):
        raise argparse.ArgumentTypeError(f"{text!r} does not read FILE.py::case")
    return read_source(path), name


def _positive(kind: type) -> Callable[[str], Any]:
    """Make a reader of numbers above 0."""

    def read(text: str) -> Any:
        number = kind(text)
        if not 0 < number < math.inf:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return number

    read.__name__ = kind.__name__  # argparse names it where the text is no number at all
    return read
