"""``recompat reproduce``: the case file of a recorded result, and the two commands that run it anywhere."""

from __future__ import annotations

import keyword
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from recompat.atomic import write_atomically
from recompat.cases import CaseFile
from recompat.errors import ConfigurationError, Incomplete
from recompat.index import is_index_url
from recompat.interpreters import platform_id, running
from recompat.judge import Finding, finding
from recompat.lookup import find_case, records_of
from recompat.model import Facts, Record, Trial
from recompat.report.style import label
from recompat.report.text import clean
from recompat.show import Known, read_source
from recompat.sources import Source, configured_folders, named_index
from recompat.tracks import beside_text, packed, target_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.version import Version

    from recompat.model import Environment, Outcome

__all__ = ["Reproduction", "find_reproduction", "how_it_ended", "pinned"]

ENVIRONMENT = ".venv"


class Reproduction(msgspec.Struct, frozen=True):
    """A recorded result and what runs it again.

    ``content`` is the case file as it was run, ``inputs`` the function that makes the case's inputs, and ``trial`` the
    recorded one that gives the verdict. ``packages`` are what torch needs beside it, as the record has them.
    """

    known: Known
    case: str
    file: CaseFile
    content: bytes
    inputs: str
    record: Record
    facts: Facts
    trial: Trial
    packages: tuple[str, ...]
    folder: Path

    @property
    def path(self) -> Path:
        """Where the case file goes."""
        return self.folder / self.file.path.name

    def write(self) -> None:
        """Write the case file, byte for byte.

        Raises:
            ConfigurationError: another file stands there, or in the place of a folder.
        """
        try:
            if not self.path.exists():
                write_atomically(self.path, self.content)
            elif self.path.read_bytes() != self.content:
                raise ConfigurationError(f"{self.path} is there, with another content; name another folder with --out.")
        except (FileExistsError, NotADirectoryError):
            raise ConfigurationError(f"{self.folder} is no folder; name another with --out.") from None

    @property
    def commands(self) -> str:
        """What a person types, line by line."""
        enter = [f"cd {shlex.quote(str(self.folder))}"] if self.folder != Path() else []
        return "\n".join((*enter, self._make(), self._run()))

    @property
    def text(self) -> str:
        """The same, with what a reader has to know."""
        facts, environment = self.facts, self.record.environment
        beside = f" with {beside_text(packed(environment.beside))}" if environment.beside else ""
        place = f"torch {facts.imported}{beside}, Python {facts.python_version}, {environment.platform}"
        lines = [
            clean(f"{self.case} on {place}"),
            clean(f"recorded {self.record.run.finished}: {how_it_ended(self.trial)}"),
            "",
            f"wrote    {self.path}",
            f"SHA-256  {self.file.sha256}, the record's own",
            "",
            "Make the environment, and run the case:",
            *(f"  {line}" for line in self.commands.splitlines()),
            "",
            self._ends(),
        ]
        return "\n".join(lines)

    def _make(self) -> str:
        venv = f"uv venv --python {_word(self.facts.python_version)} {ENVIRONMENT}"
        wanted = " ".join(map(_word, (*self._from(), f"torch=={self._build()}", *self.packages)))
        return f"{venv} && uv pip install --python {ENVIRONMENT} {wanted}"

    def _run(self) -> str:
        stem, name, inputs = self.file.path.stem, self.case.partition("::")[2], self.inputs
        if stem.isidentifier() and not keyword.iskeyword(stem):
            code = f"import {stem} as f; f.case_{name}(*f.{inputs}())"
        else:  # not a name that can be imported
            code = f"import runpy; f = runpy.run_path({self.file.path.name!r}); f['case_{name}'](*f['{inputs}']())"
        quoted = shlex.quote(code) if set(code) & set('"$`\\!') else f'"{code}"'
        python = rf"{ENVIRONMENT}\Scripts\python" if os.name == "nt" else f"{ENVIRONMENT}/bin/python"
        return f"{python} -c {quoted}"

    def _build(self) -> str:
        """The installed distribution's version: with its local part where the wheel itself has one, as in ``2.13.0+cpu``."""
        return self.facts.packages.get("torch", self.record.environment.torch)

    def _from(self) -> list[str]:
        """Where torch came from, as far as that is not the default index; only one that was named for the run is named.

        Its page of torch alone is, so that everything else comes from the default index, as it did.
        """
        if self.facts.source == Source.CPU:
            return ["--torch-backend", "cpu"]
        if self.facts.source == Source.FOLDER:
            folder = _folder_with(self._build(), self.known)
            return ["--torch-backend", "cpu"] if folder is None else ["--find-links", str(folder)]
        index = named_index(self.facts.source)
        return ["--find-links", f"{index}/torch/"] if index and is_index_url(index) else []

    def _ends(self) -> str:
        if self.trial.raised is not None:
            return clean(f"It ends with {self.trial.raised.type} in {self.trial.raised.phase}.")
        return _SILENT.get(self.trial.outcome, f"It was recorded as {self.trial.outcome}.")


_SILENT: dict[Outcome | str, str] = {
    "pass": "It ends without a word: the case passes.",
    "differs": "It ends without a word, but what it returns is not what reference() returns.",
}


def find_reproduction(
    known: Known, case: str, torch: str, out: Path | None, axes: Sequence[Requirement] = ()
) -> Reproduction:
    """Find what is recorded of a case on a release, and the file that it was.

    Args:
        out: the folder to write to; None for ``reproduce/torch<release>``, and what stands beside it.
        axes: what has to stand beside torch; where that leaves a choice, the newest does.

    Raises:
        ConfigurationError: the case file was edited since, or is not there.
        Incomplete: there is a record, and no result in it.
        NothingSelected: there is no such case, or no record of that release.
    """
    case_id = find_case(case, known.cases)
    record = max(records_of(known.records, torch, axes), key=lambda one: _preference(one, case_id))
    seen = finding(next((result for result in record.results if result.case == case_id), None))
    release, target = record.environment.torch, target_of(record.environment)
    if not isinstance(seen, Finding) or record.facts is None:
        why = record.trouble.reason if record.trouble else f"nox -s matrix -- {target.options} runs it."
        raise Incomplete(f"There is no result of {case_id} on torch {target}: {why}")
    file = next(file for file in known.files if case_id in {one.id for one in file.cases})
    return Reproduction(
        known=known,
        case=case_id,
        file=file,
        content=_bytes_of(file, seen.result.sha256, release),
        inputs=read_source(known.project, file, case_id).inputs,
        record=record,
        facts=record.facts,
        trial=seen.trial,
        packages=(*pinned(known.matrix.packages_for(target.torch), record.facts), *target.requirements),
        folder=Path("reproduce", _named(record.environment)) if out is None else out,
    )


def _named(environment: Environment) -> str:
    """An environment's id, without interpreter and platform."""
    return environment.id.removesuffix(f"-{environment.python}-{environment.platform}")


def pinned(requirements: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """Requirements at the versions that were there; one that was not is left as it is."""
    there = {canonicalize_name(name): version for name, version in facts.packages.items()}
    names = [(canonicalize_name(Requirement(text).name), text) for text in requirements]
    return tuple(f"{name}=={there[name]}" if name in there else text for name, text in names)


def how_it_ended(trial: Trial) -> str:
    """Say how a trial ended, in a few words."""
    name = label(trial.outcome, trial.raised.type if trial.raised else None)
    return f"{name} in {trial.raised.phase}" if trial.raised else name


def _word(text: str) -> str:
    """A word of a command; what a record says stays a word, whatever it holds."""
    return shlex.quote(clean(text))


def _preference(record: Record, case_id: str) -> tuple[bool, bool, bool, list[tuple[str, Version]], str]:
    """A record with the result first, then one of this platform and interpreter, then the newest versions and record."""
    environment = record.environment
    return (
        any(result.case == case_id for result in record.results),
        environment.platform == platform_id(),
        environment.python == running(),
        target_of(environment).place[1],
        record.run.finished,
    )


def _bytes_of(file: CaseFile, sha256: str, release: str) -> bytes:
    mend = f"restore the file, or run it again: nox -s matrix -- --torch {release}"
    try:
        content = file.path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{file.path} cannot be read ({error.strerror}); {mend}") from None
    if file.sha256 != sha256:
        raise ConfigurationError(
            f"{file.path.name} was edited since torch {release} was recorded; {mend}",
            (f"SHA-256 of the file:   {file.sha256}", f"SHA-256 of the record: {sha256}"),
        )
    return content


def _folder_with(build: str, known: Known) -> Path | None:
    """The local wheel folder that has this build of torch, if one still has it."""
    folders = configured_folders(known.matrix.find_links)
    return next((folder for folder in folders if any(folder.glob(f"torch-{build}-*.whl"))), None)
