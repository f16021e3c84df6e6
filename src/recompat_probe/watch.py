"""Watches a case: every call of a function that it gives to ``checkpoint()``.

*Regions.* Every call of ``checkpoint()`` opens a region. One that is made while the function of another region runs is
nested in it. Where the outer function is run again, its nested regions are the same as before, paired by position: the
second ``checkpoint()`` call of the recomputation is the region of the second such call of forward. Beyond those that
forward had, new ones are opened.

*Forward or recompute.* The first call of a region is ``forward``, unless its ``checkpoint()`` was called by a
recomputation; every other call is ``recompute``.

*Reentrant.* Not read from the argument, whose default differs between releases, but from how checkpoint called the
function: through its autograd function or directly.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import torch.utils.checkpoint

from recompat_probe.modules import inherited, training
from recompat_probe.operators import Operators
from recompat_probe.raised import qualified
from recompat_probe.settings import settings
from recompat_probe.variables import ContextVariables

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Call", "Watch"]

CALLS = 16
ENTRIES = ("_checkpoint_impl", "checkpoint")  # where there is the first, checkpoint() and its decorator form end in it


def _holders(original: Any) -> Iterator[Tuple[Dict[str, Any], str]]:
    """Find every name by which a loaded module holds an object."""
    for module in list(sys.modules.values()):
        held = getattr(module, "__dict__", {})
        yield from [(held, name) for name, value in held.items() if value is original]


ORIGINAL: Any = next(filter(None, (getattr(torch.utils.checkpoint, name, None) for name in ENTRIES)))
HOLDERS = list(_holders(ORIGINAL))  # once, before the watching children are forked: it takes as long as a trial


@dataclass
class Call:
    """One call of a checkpointed function; the keys are those of the wire."""

    region: int
    during: str
    reentrant: bool
    settings: Dict[str, str]
    operators: List[str] = field(default_factory=list)
    ending: str = "running"


@dataclass
class _Region:
    number: int
    recomputed: bool  # whether the next call of its function is a recomputation
    nested: List[_Region] = field(default_factory=list)


@dataclass
class _Running:
    region: _Region
    recomputed: bool
    checkpoints: int = 0  # calls of checkpoint() so far


class Watch:
    """What was seen of the functions that were given to ``checkpoint()`` while it was on."""

    def __init__(self) -> None:
        self.calls: List[Call] = []
        self.unwatched = 0
        self._on = False
        self._regions = 0
        self._local = threading.local()
        self._variables = ContextVariables()

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Watch within: the case, not its reference."""
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def install(self) -> None:
        """Put a watching function wherever a loaded module holds torch's own; for the rest of this process."""
        watching = self._watching(ORIGINAL)
        for held, name in HOLDERS:
            held[name] = watching

    def settled(self) -> List[Call]:
        """Return the calls, with what only all of them together can tell."""
        self._variables.leave_the_case_s_own([call.settings for call in self.calls])
        for region in range(self._regions):
            inherited([call.settings for call in self.calls if call.region == region])
        return self.calls

    def _watching(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def checkpoint(*args: Any, **kwargs: Any) -> Any:
            if self._on and args and callable(args[0]):
                args = (self._watched(args[0], code), *args[1:])
            elif self._on and callable(kwargs.get("function")):
                kwargs["function"] = self._watched(kwargs["function"], code)
            return original(*args, **kwargs)

        code = checkpoint.__code__  # type: ignore[attr-defined]
        return checkpoint

    def _watched(self, function: Callable[..., Any], checkpoint: Any) -> Callable[..., Any]:
        region = self._region()
        reentrant: List[bool] = []

        @functools.wraps(function, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            reentrant.append(reentrant[0] if reentrant else _is_reentrant(sys._getframe(1), checkpoint))
            running = _Running(region, region.recomputed)
            region.recomputed = True
            with self._inside(running):
                if len(self.calls) >= CALLS:
                    self.unwatched += 1
                    return function(*args, **kwargs)
                during = "recompute" if running.recomputed else "forward"
                seen = Call(region.number, during, reentrant[0], self._snapshot(function, args, kwargs))
                self.calls.append(seen)
                with _noting(seen):
                    return function(*args, **kwargs)

        return call

    def _snapshot(self, function: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Dict[str, str]:
        found = {**settings(), **self._variables.read()}
        with contextlib.suppress(Exception):  # the attributes of foreign objects may do anything
            found.update(training(function, args, kwargs))
        return found

    def _region(self) -> _Region:
        """Return the region that a call of ``checkpoint()`` opens, or opens again."""
        stack = self._stack()
        if not stack:
            return self._new_region(recomputed=False)
        outer = stack[-1]
        outer.checkpoints += 1
        if outer.checkpoints > len(outer.region.nested):
            outer.region.nested.append(self._new_region(recomputed=outer.recomputed))
        return outer.region.nested[outer.checkpoints - 1]

    def _new_region(self, recomputed: bool) -> _Region:
        self._regions += 1
        return _Region(self._regions - 1, recomputed)

    @contextlib.contextmanager
    def _inside(self, running: _Running) -> Iterator[None]:
        stack = self._stack()
        stack.append(running)
        try:
            yield
        finally:
            stack.remove(running)

    def _stack(self) -> List[_Running]:
        """Return the calls that are running in this thread, outermost first."""
        stack: List[_Running] = self._local.__dict__.setdefault("stack", [])
        return stack


@contextlib.contextmanager
def _noting(call: Call) -> Iterator[None]:
    """List operators within, and how it ends."""
    operators = Operators()
    try:
        with operators:
            yield
    except BaseException as error:
        call.ending = _ending(error)
        raise
    else:
        call.ending = "returned"
    finally:
        call.operators = operators.names()


def _ending(error: BaseException) -> str:
    early: Optional[type] = getattr(torch.utils.checkpoint, "_StopRecomputationError", None)
    return "stopped early" if early and isinstance(error, early) else f"raised {qualified(type(error))}"


def _is_reentrant(frame: Optional[FrameType], checkpoint: Any) -> bool:
    """Tell whether checkpoint's autograd function stands between a call and the ``checkpoint()`` that it is for."""
    function = getattr(torch.utils.checkpoint, "CheckpointFunction", None)
    through = function.forward.__code__ if function else None
    while frame and frame.f_code is not checkpoint:
        if frame.f_code is through:
            return True
        frame = frame.f_back
    return False
