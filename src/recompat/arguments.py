"""Values that options of both command lines take: of ``recompat``, and of what follows ``--`` on nox's."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from recompat.errors import ConfigurationError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from recompat.project import Project

__all__ = ["axis_selector", "existing_folder", "index_url", "nearest_project", "project_of"]

MATRIX = Path("matrix", "matrix.toml")


def existing_folder(text: str) -> Path:
    """Read the name of a folder that is there.

    Raises:
        ArgumentTypeError: it is not.
    """
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder")
    return Path(text).resolve()


def index_url(text: str) -> str:
    """Read the address of a package index.

    Raises:
        ArgumentTypeError: it is none; the message has no login.
    """
    from recompat.index import is_index_url, without_login

    if not is_index_url(text):
        raise argparse.ArgumentTypeError(f"{without_login(text)} is no http or https URL")
    return text


def axis_selector(text: str) -> Requirement:
    """Read a package and a range of its versions.

    Raises:
        ArgumentTypeError: it is something else.
    """
    from packaging.requirements import Requirement

    try:
        found = Requirement(text)
        found.specifier.contains("1")  # it reads the versions in it no sooner
    except (ValueError, RecursionError):
        found = None
    if found is None or found.url or found.marker or found.extras:
        raise argparse.ArgumentTypeError(f"{text} is no package with its versions, such as transformers>=4.50")
    return found


def project_of(given: argparse.Namespace) -> Project:
    """The project that was named, or the nearest one from here upwards.

    Raises:
        ConfigurationError: there is none.
    """
    from recompat.project import Project

    if given.project is not None:
        if not (given.project / MATRIX).is_file():
            raise ConfigurationError(f"{given.project} has no {MATRIX.as_posix()}; name the folder that has it.")
        return Project(given.project.resolve(), given.records)
    found = nearest_project()
    if found is None:
        raise ConfigurationError(
            f"There is no {MATRIX.as_posix()} here or in a folder above; go to a project, or name one with --project."
        )
    return Project(found, given.records)


def nearest_project() -> Path | None:
    """The nearest folder from here upwards that has a matrix, if there is one."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / MATRIX).is_file()), None)
