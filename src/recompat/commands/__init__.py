"""The subcommands of ``recompat``, a module each: ``HELP``, ``add_arguments`` and ``run``.

A module imports what costs no sooner than in ``run``: ``recompat --help`` reads all of them.
"""

from __future__ import annotations

from recompat.commands import (
    accept,
    bisect,
    ci_matrix,
    diff,
    explain,
    init,
    library,
    lock,
    merge,
    report,
    reproduce,
    restored,
    show,
    try_file,
    versions,
)

__all__ = ["COMMANDS"]

COMMANDS = {
    "init": init,
    "versions": versions,
    "report": report,
    "show": show,
    "diff": diff,
    "bisect": bisect,
    "explain": explain,
    "try": try_file,
    "reproduce": reproduce,
    "restored": restored,
    "library": library,
    "accept": accept,
    "lock": lock,
    "ci-matrix": ci_matrix,
    "merge": merge,
}
"""The subcommands, by name, in the order of the help."""
