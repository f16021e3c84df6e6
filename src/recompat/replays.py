"""Comparing the replays of a case: what repeats, also from scratch, and what depends on what the process had imported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from recompat.model import CaseResult, Outcome, Replay, Trial

if TYPE_CHECKING:
    from recompat.model import Difference, Phase, Raised

__all__ = ["VERIFICATION", "bare_name", "flaky", "label", "process_dependent", "stable", "unsteady", "verified"]

VERIFICATION: Final = "verification"
"""What a result differs in that did not come out the same again from scratch."""

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")
PID = re.compile(r"\b(pid|(?:sub)?process)([ =:#]{1,3})[0-9]+", re.IGNORECASE)


def stable(trial: Trial) -> Trial:
    """Drop what never repeats: the seconds, memory addresses, process ids, and the numbers of a trial that varies."""
    return msgspec.structs.replace(
        trial,
        seconds=0.0,
        raised=None if trial.raised is None else _stable_raised(trial.raised),
        differences=() if trial.varies else tuple(map(_stable_difference, trial.differences)),
        warnings=tuple(msgspec.structs.replace(w, text=_masked(w.text)) for w in trial.warnings),
        detail=_masked(trial.detail),
    )


def unsteady(result: CaseResult) -> tuple[str, ...]:
    """Name the parts of a trial in which the warm replays differ, and the verification if that ended otherwise."""
    return _warm_differences(result) + ((VERIFICATION,) if verified(result) is False else ())


def verified(result: CaseResult) -> bool | None:
    """Whether every replay ended the same again from scratch; None where that was not tried.

    How it ended counts, and by what it warned: a message may name another line of another run.
    """
    if result.again is None:
        return None
    again = result.again.trials
    return all(
        replay in again and (_ending(trial), trial.warned) == (_ending(again[replay]), again[replay].warned)
        for replay, trial in result.trials.items()
    )


def _warm_differences(result: CaseResult) -> tuple[str, ...]:
    """Name the parts of a trial in which the warm replays differ; none if either is absent."""
    warm, copied = result.trials.get(Replay.WARM), result.trials.get(Replay.WARM_COPIED)
    if warm is None or copied is None:
        return ()
    if msgspec.structs.replace(warm, seconds=copied.seconds) == copied:  # nearly always, and quicker to tell
        return ()
    one, other = stable(warm), stable(copied)
    return tuple(name for name in Trial.__struct_fields__ if getattr(one, name) != getattr(other, name))


def flaky(result: CaseResult) -> bool:
    """Whether what ran the same under the same conditions ended otherwise: the warm replays, or a verification."""
    return bool(unsteady(result))


def process_dependent(result: CaseResult) -> bool:
    """Whether what the process had imported before changes how the case ends.

    Only outcome, exception type and phase count: warnings that a lazy import gives are expected to differ.
    """
    cold, warm = result.trials.get(Replay.COLD), result.trials.get(Replay.WARM)
    return cold is not None and warm is not None and _ending(cold) != _ending(warm)


def label(trial: Trial) -> str:
    """Say in a word how a trial ended: the bare name of its exception, or its outcome."""
    return bare_name(trial.raised.type) if trial.outcome is Outcome.RAISES and trial.raised else trial.outcome.value


def bare_name(qualified: str) -> str:
    """Take the modules off a qualified type: ``CheckpointError`` of ``torch.utils.checkpoint.CheckpointError``."""
    return qualified.rpartition(".")[2]


def _ending(trial: Trial) -> tuple[Outcome, str | None, Phase | None]:
    raised = trial.raised
    if raised is None or trial.outcome is Outcome.MOOT:  # by which exception both fail is of no interest
        return trial.outcome, None, None
    return trial.outcome, raised.type, raised.phase


def _stable_raised(raised: Raised) -> Raised:
    frames = tuple(_masked(frame) for frame in raised.frames)
    return msgspec.structs.replace(raised, message=_masked(raised.message), frames=frames)


def _stable_difference(difference: Difference) -> Difference:
    return msgspec.structs.replace(difference, note=_masked(difference.note))


def _masked(text: str | None) -> str | None:
    return None if text is None else PID.sub(r"\1\2…", ADDRESS.sub("0x…", text))
