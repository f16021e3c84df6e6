"""All that a run reads before it begins: the options, the files, and what of them was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from recompat.axes import Axes, fits, products, select_versions
from recompat.cases import Case, CaseFile, read_case_files
from recompat.lock import Lock, load_lock
from recompat.matrix import Matrix, load_matrix
from recompat.memory import AVAILABLE, memory_text
from recompat.options import Options
from recompat.private import scrub
from recompat.project import Project, probe_digest
from recompat.selection import default_cases, select_cases
from recompat.tracks import Target
from recompat.trials import CaseAddress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.version import Version

    from recompat.model import Environment, Record

__all__ = ["Setup", "load_setup"]


class Setup(msgspec.Struct, frozen=True):
    """What was asked for, read and checked. ``cases`` are the selected ones; those of a faulty file are among them.

    ``axes`` are the selected versions of what stands beside torch; with a ``lock``, nothing but what it has is installed.
    """

    project: Project
    options: Options
    matrix: Matrix
    files: tuple[CaseFile, ...]
    cases: tuple[Case, ...]
    probe_sha256: str
    axes: Axes = {}
    lock: Lock | None = None

    @property
    def timeout(self) -> float:
        """The limit of a trial, in seconds."""
        return self.options.timeout or self.matrix.timeout

    @property
    def memory(self) -> int | None:
        """The limit of each process of a trial, in bytes; None where there is none, or none can be set."""
        return (self.options.memory or self.matrix.memory) if AVAILABLE else None

    @property
    def index_urls(self) -> tuple[str, ...]:
        """Further indexes, most preferred first."""
        return (*self.options.index_urls, *self.matrix.index_urls)

    @property
    def addresses(self) -> tuple[CaseAddress, ...]:
        """The selected cases that can be run."""
        selected = set(self.cases)
        return tuple(address for case, address in self._runnable() if case in selected)

    @property
    def all_addresses(self) -> tuple[CaseAddress, ...]:
        """Every case that can be run, selected or not."""
        return tuple(address for _, address in self._runnable())

    def terms(self, release: Version) -> dict[str, str]:
        """What a record's results depend on besides the environment and the case files, as records have it."""
        terms = {
            "timeout": f"{self.timeout:g}",
            "isolation": self.options.isolation,
            "packages": " ".join(self.matrix.packages_for(release)),
        }
        if self.options.source != "auto":
            terms["source"] = self.options.source
        if not self.options.evidence:
            terms["evidence"] = "off"
        if self.memory is not None:
            terms["memory"] = memory_text(self.memory)
        if self.lock is not None:
            terms["lock"] = self.lock.digest(release)
        return {name: scrub(value) for name, value in terms.items()}

    def targets(self, releases: Iterable[Version]) -> tuple[Target, ...]:
        """Each release with all that is selected to stand beside it."""
        return tuple(Target(release, beside) for release in releases for beside in products(self.axes))

    def selects(self, environment: Environment) -> bool:
        """Whether what stands beside torch there is what ``--axis`` names, if anything was named."""
        return fits(environment.beside, self.options.axes)

    def with_recorded(self, records: Iterable[Record]) -> Setup:
        """Select what is recorded as well, unless ``-k`` says what to select."""
        if self.options.keyword:
            return self
        wanted = {case.id for case in self.cases} | {result.case for record in records for result in record.results}
        known = (case for file in self.files for case in file.cases)
        return msgspec.structs.replace(self, cases=tuple(case for case in known if case.id in wanted))

    def _runnable(self) -> Iterator[tuple[Case, CaseAddress]]:
        for file in self.files:
            for case in file.cases if file.fault is None else ():
                yield case, CaseAddress(case.id, file.path, file.sha256, case.about.alone)


def load_setup(project: Project, options: Options) -> Setup:
    """Read everything that a run needs.

    Raises:
        ConfigurationError: a file that cannot be used, or ``--axis`` names no axis.
        NothingSelected: ``-k`` matches no case, or ``--axis`` no version.
    """
    matrix, files = load_matrix(project.matrix), read_case_files(project.cases)
    known = [case for file in files for case in file.cases]
    default = default_cases(known, matrix.default_cases)
    cases = select_cases(known, options.keyword) if options.keyword else default
    axes = select_versions(matrix.axes, options.axes)
    locked = matrix.require_hashes if options.require_hashes is None else options.require_hashes
    lock = load_lock(project.lock) if locked else None
    return Setup(project, options, matrix, files, cases, probe_digest(), axes, lock)
