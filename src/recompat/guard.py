"""Tells, while a model trains, that a checkpoint is recomputed under other execution settings than its forward had.

``checkpoint`` stands in for torch's own; ``guard`` covers every call within it, those of libraries too. Both read the settings
where the function of a checkpoint begins, and again wherever it is recomputed. This needs torch and the standard library, and
runs on Python 3.8.

*What is covered.* Not ``checkpoint()`` itself, which libraries hold under many names and ``torch.compile`` knows by identity,
but the two functions that it calls, one for each variant. It looks them up by name at each call.
"""

from __future__ import annotations

import functools
import logging
import threading
import warnings
from contextlib import ContextDecorator
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch.utils.checkpoint

from recompat.guard_settings import Settings, differing, lines, read, value

__all__ = ["SettingsChanged", "SettingsChangedWarning", "checkpoint", "guard"]

ACTIONS = ("raise", "warn", "log")
GENERATORS = ("_checkpoint_without_reentrant_generator_impl", "_checkpoint_without_reentrant_generator")  # from 2.1 on
FUNCTION = "_checkpoint_without_reentrant"  # 2.0

log = logging.getLogger(__name__)
_compiling: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_untraced: Callable[[Any], Any] = getattr(torch, "_disable_dynamo", lambda function: function)  # not in 2.0
_lock = threading.Lock()
_active: List[guard] = []
_covers: List[_Cover] = []


class SettingsChanged(RuntimeError):
    """A checkpoint was recomputed under other execution settings than its forward had.

    ``changes`` holds, by the name of each setting, its value in forward and in recompute.
    """

    def __init__(self, message: str, changes: Dict[str, Tuple[str, str]]) -> None:
        super().__init__(message)
        self.changes = changes


class SettingsChangedWarning(UserWarning):
    """What ``guard(action="warn")`` warns with."""


class guard(ContextDecorator):  # noqa: N801  (torch names such scopes so: no_grad, autocast)
    """A scope within which every checkpoint is watched; also a decorator.

    A checkpoint that is called in the scope stays watched, so its recompute may come after it. Scopes nest, and one guard may
    be entered again. Of several that are in force, in whatever threads, the one entered last acts. What ``torch.compile``
    traces is left alone: it does not run the function again.

    Args:
        action: ``raise`` a SettingsChanged from backward, ``warn`` with a SettingsChangedWarning, or ``log`` a warning.
        ignore: names of settings that may differ, or how they begin: ``("threads.", "training.")``.

    Raises:
        ValueError: There is no such action.
        RuntimeError: On entering: this torch has not the functions that checkpoint is known to call.
    """

    def __init__(self, action: str = "raise", ignore: Sequence[str] = ()) -> None:
        if action not in ACTIONS:
            raise ValueError(f"action is one of {', '.join(ACTIONS)}, not {action!r}")
        self.action = action
        self.ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)

    @_untraced
    def __enter__(self) -> guard:  # noqa: PYI034  (Python 3.8 has no Self)
        with _lock:
            if not _active:
                _cover()
            _active.append(self)
        return self

    @_untraced
    def __exit__(self, *error: object) -> None:
        with _lock:
            del _active[len(_active) - 1 - _active[::-1].index(self)]
            if not _active:
                _uncover()

    def compare(self, function: Any, forward: Settings, recompute: Settings) -> None:
        """Tell what differs, unless all of it may."""
        names = [name for name in differing(forward, recompute) if not name.startswith(self.ignore)]
        if not names:
            return
        title = f"The recompute of {_where(function)} has other settings than its forward:"
        message = "\n  ".join([title, *lines(names, forward, recompute)])
        if self.action == "raise":
            changes = {name: (value(forward, name), value(recompute, name)) for name in names}
            raise SettingsChanged(message, changes)
        if self.action == "warn":
            warnings.warn(message, SettingsChangedWarning, stacklevel=3)
        else:
            log.warning("%s", message)


RAISING = guard()


def checkpoint(function: Optional[Callable[..., Any]] = None, *args: Any, **kwargs: Any) -> Any:
    """Call ``torch.utils.checkpoint.checkpoint``, and raise SettingsChanged where the recompute has other settings.

    Takes what that takes. Without a function it gives a decorator, on every release. Within a ``guard`` that one acts.
    """
    if function is None:
        return functools.partial(_decorated, kwargs)
    if not _compiling():
        function = _watched(function, _acting() or RAISING)
    return torch.utils.checkpoint.checkpoint(function, *args, **kwargs)


def _decorated(options: Dict[str, Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return checkpoint(function, *args, **kwargs, **options)

    return call


class _Watched:
    """The function of one call of checkpoint: what it does first is forward, all that follows recompute."""

    def __init__(self, function: Callable[..., Any], by: guard) -> None:
        self._function, self._guard = function, by
        self._forward: Optional[Settings] = None

    def begin_forward(self) -> None:
        self._forward = read(self._function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward is None:
            self.begin_forward()
        else:
            self._guard.compare(self._function, self._forward, read(self._function))
        return self._function(*args, **kwargs)


class _Steps:
    """The steps of a non-reentrant checkpoint: what it prepares, then, by its caller, forward; then what it finishes."""

    def __init__(self, steps: Any, watched: _Watched) -> None:
        self._steps, self._watched = steps, watched
        self.throw = steps.throw

    def __next__(self) -> Any:
        prepared = next(self._steps)
        self._watched.begin_forward()
        return prepared


def _acting() -> Optional[guard]:
    return next(iter(_active[-1:]), None)


def _watched(function: Callable[..., Any], by: guard) -> _Watched:
    return function if isinstance(function, _Watched) else _Watched(function, by)


def _watching(original: Callable[..., Any]) -> Callable[..., Any]:
    """Cover a function that calls the checkpointed one in forward itself."""

    @functools.wraps(original)
    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        by = _acting()
        return original(function if by is None or _compiling() else _watched(function, by), *args, **kwargs)

    return call


def _watching_steps(original: Callable[..., Any]) -> Callable[..., Any]:
    """Cover one whose caller runs the checkpointed function in forward, as it was given."""

    @functools.wraps(original)
    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        by = _acting()
        if by is None or _compiling() or isinstance(function, _Watched):
            return original(function, *args, **kwargs)
        watched = _watched(function, by)
        return _Steps(original(watched, *args, **kwargs), watched)

    return call


class _Cover:
    """A name of torch's that holds something of ours for a while."""

    def __init__(self, holder: Any, name: str, ours: Any) -> None:
        self._holder, self._name, self._ours = holder, name, ours
        self._own = vars(holder).get(name)  # a class may inherit it
        setattr(holder, name, ours)

    def undo(self) -> None:
        """Put back what was there, unless another has put something of its own in place meanwhile."""
        if vars(self._holder).get(self._name) is not self._ours:
            return
        if self._own is None:
            delattr(self._holder, self._name)
        else:
            setattr(self._holder, self._name, self._own)


def _cover() -> None:
    module = torch.utils.checkpoint
    steps = next((name for name in GENERATORS if hasattr(module, name)), None)
    reentrant: Any = getattr(module, "CheckpointFunction", None)
    if not (steps or hasattr(module, FUNCTION)) or not hasattr(reentrant, "apply"):
        raise RuntimeError(
            f"torch {torch.__version__} has another checkpoint than recompat.guard knows. "
            "Call recompat.guard.checkpoint in place of torch's: it needs nothing of that."
        )
    _covers.append(_Cover(reentrant, "apply", staticmethod(_watching(reentrant.apply))))
    if steps:
        _covers.append(_Cover(module, steps, _watching_steps(getattr(module, steps))))
    else:
        _covers.append(_Cover(module, FUNCTION, _watching(getattr(module, FUNCTION))))


def _uncover() -> None:
    while _covers:
        _covers.pop().undo()


def _where(function: Any) -> str:
    """Name a function and the line where it is defined."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name
