"""One trial: a case beside its reference, and what came of it."""

from __future__ import annotations

import contextlib
import random
import warnings
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Sequence

import torch

from recompat_probe.casefile import CaseError, find_case, line_in
from recompat_probe.compare import Difference, compare
from recompat_probe.places import Places
from recompat_probe.raised import Raised, describe, message, qualified, sentence
from recompat_probe.requires import absent, absent_tools
from recompat_probe.values import snapshot

if TYPE_CHECKING:
    from recompat_probe.casefile import Source
    from recompat_probe.compare import Tolerance

__all__ = ["Trial", "run_trial"]

SEED = 0
Around = Callable[[], ContextManager[Any]]


@dataclass(frozen=True)
class Warned:
    """A warning that the case gave and its reference did not."""

    category: str
    text: str


@dataclass(frozen=True)
class Trial:
    """How a trial ended; the keys are those of the wire. With ``varies``, its numbers never repeat."""

    outcome: str
    raised: Raised | None = None
    differences: list[Difference] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    detail: str | None = None
    varies: bool = False


@dataclass(frozen=True)
class _Attempt:
    """One call of a case or of its reference: a snapshot of what it returned, or what it raised."""

    value: Any = None
    error: BaseException | None = None
    warnings: list[Warned] = field(default_factory=list)


def run_trial(source: Source, name: str, around: Around = contextlib.nullcontext) -> dict[str, Any]:
    """Run one case in this process and return its trial as plain data that names no folder of this machine.

    ``around`` makes the context in which the case's own function is called, and not its reference.
    """
    places = Places(source.path)
    torch.set_num_threads(1)  # renews a forked process's thread pool, which the engine's threads would race to renew
    try:
        trial = _run(source, name, places, around)
    except CaseError as error:
        trial = Trial("error", detail=str(error))
    cleaned: dict[str, Any] = places.cleaned(asdict(trial))
    return cleaned


def _run(source: Source, name: str, places: Places, around: Around) -> Trial:
    _seed()
    case = find_case(source, name)
    missing = absent(case.requires) + absent_tools(case.needs)
    if missing:
        return Trial("unsupported", detail=" ".join(missing))
    expected = _attempt(source, case.inputs, case.reference)  # first, because a case may leak state
    with around():
        observed = _attempt(source, case.inputs, case.function)
    if isinstance(expected.error, SystemExit):
        raise source.error(f"the reference {_exit(expected.error)}", line_in(source, expected.error))
    if isinstance(observed.error, SystemExit):
        return Trial("crash", detail=_exit(observed.error))
    new = [warned for warned in observed.warnings if warned not in expected.warnings]
    return replace(_judge(observed, expected, case.tolerance, places), warnings=new, varies=case.varies)


def _judge(observed: _Attempt, expected: _Attempt, tolerance: Tolerance, places: Places) -> Trial:
    if observed.error is not None:
        raised = describe(observed.error, places)
        if expected.error is not None:
            return Trial("moot", raised, detail=f"The reference raises too: {sentence(expected.error)}.")
        return Trial("raises", raised)
    if expected.error is not None:
        return Trial("differs", detail=f"The reference raises {sentence(expected.error)}; the case does not.")
    differences = compare(observed.value, expected.value, tolerance)
    return Trial("pass" if all(found.equal for found in differences) else "differs", differences=differences)


def _attempt(source: Source, inputs: Callable[[], Any], function: Callable[..., Any]) -> _Attempt:
    _seed()
    arguments = _fresh(source, inputs)
    value, failure = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*arguments)
        except BaseException as error:  # noqa: BLE001  (whatever leaves a case is a finding)
            failure = error
    given = dict.fromkeys(Warned(qualified(one.category), message(one.message)) for one in caught)
    try:
        return _Attempt(snapshot(value), failure, list(given))
    except Exception as error:
        raise source.error(f"what {_name(function)} returns cannot be read: {sentence(error)}") from error


def _fresh(source: Source, inputs: Callable[[], Any]) -> Sequence[Any]:
    try:
        arguments = inputs()
    except BaseException as error:
        raise source.error(f"{_name(inputs)}() raised {sentence(error)}", line_in(source, error)) from error
    if not isinstance(arguments, (tuple, list)):
        raise source.error(f"{_name(inputs)}() must return a tuple, not {qualified(type(arguments))}")
    return arguments


def _name(function: Any) -> str:
    return getattr(function, "__name__", "a callable without a name")


def _seed() -> None:
    random.seed(SEED)
    torch.manual_seed(SEED)


def _exit(error: SystemExit) -> str:
    """Say what the interpreter would have ended with: an object that is no number is printed and means 1."""
    code = 0 if error.code is None else error.code if isinstance(error.code, int) else 1
    return f"exited with status {code & 0xFF}"
