"""What was tested, how, and what stood in the way, as types; ``recompat.model`` passes them on."""

from __future__ import annotations

import functools
from enum import StrEnum

import msgspec

__all__ = ["Environment", "Facts", "Run", "Trouble", "TroubleKind"]


class TroubleKind(StrEnum):
    """Why an environment could not be built or trusted: never a finding about torch."""

    NOT_TRIED = "not-tried"
    NO_RELEASE = "no-release"
    NO_WHEEL = "no-wheel"
    NO_INTERPRETER = "no-interpreter"
    UNREACHABLE = "unreachable"
    INSTALL_FAILED = "install-failed"
    DISK_FULL = "disk-full"
    IMPORT_FAILED = "import-failed"
    WRONG_VERSION = "wrong-version"
    PROBE_FAILED = "probe-failed"


class Environment(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """A torch release on an interpreter and a platform; ``id`` is typable, as in ``torch2.11.0-cp311-linux_x86_64``.

    ``host_python`` is the interpreter that asked: it differs from ``python`` where that one has no wheel. ``beside`` are the
    packages that an axis of the matrix chose, each with its version; without any, JSON leaves it out.
    """

    torch: str
    python: str
    platform: str
    host_python: str
    beside: dict[str, str] = {}

    @functools.cached_property
    def id(self) -> str:
        """The name used in selectors, file names, logs and reports."""
        chosen = {"torch": self.torch, **dict(sorted(self.beside.items()))}
        return "-".join((*map("".join, chosen.items()), self.python, self.platform))


class Facts(msgspec.Struct, frozen=True):
    """What was really tested, as the probe saw it.

    ``imported`` is ``torch.__version__``; ``distribution_sha256`` is a digest over the installed distribution's own
    ``RECORD`` file, which lists a digest for every file of the wheel, without what installers add to it.
    """

    imported: str
    flavour: str
    source: str
    distribution_sha256: str
    python_version: str
    implementation: str
    libc: str
    cpu_capability: str
    threads: int
    packages: dict[str, str]


class Run(msgspec.Struct, frozen=True):
    """How a record came about. Times are UTC, ISO 8601; ``seconds`` names steps, such as ``installing``."""

    recompat: str
    probe_sha256: str
    options: dict[str, str]
    started: str
    finished: str
    seconds: dict[str, float]


class Trouble(msgspec.Struct, frozen=True):
    """Why nothing (or nothing more) was run in this environment; ``reason`` is one sentence with its mend."""

    kind: TroubleKind
    reason: str
