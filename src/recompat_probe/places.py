"""Where things are on this machine, kept out of what is written.

Replays run the same cases in different folders and must compare equal, and a record that is shared should not tell
the name of a user.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

__all__ = ["LIMIT", "Places"]

LIMIT = 10_000


class Places:
    """The folders that a trial knows of: that of its case file, the environment, Python's own, the user's home."""

    def __init__(self, case_file: str) -> None:
        cases = os.path.dirname(os.path.abspath(case_file))
        labels = {cases: "<cases>"}
        for folder, label in ((sys.prefix, "<env>"), (sys.base_prefix, "<python>"), (os.path.expanduser("~"), "~")):
            labels.setdefault(folder, label)
            labels.setdefault(os.path.realpath(folder), label)
        labels.setdefault(os.path.realpath(cases), "<cases>")
        self._labels = {folder: label for folder, label in labels.items() if _can_stand_for_itself(folder)}
        spelled = "|".join(re.escape(folder) for folder in sorted(self._labels, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w.-])(?:{spelled})(?![\w-]|\.\w)")
        self._roots = sorted({cases, *filter(os.path.isabs, sys.path)}, key=len, reverse=True)

    def cleaned(self, data: Any) -> Any:
        """Return plain data with every string neutral, valid Unicode and at most ``LIMIT`` characters, and a note."""
        if isinstance(data, str):
            return _cut(self.neutral(data))
        if isinstance(data, dict):
            return {key: self.cleaned(value) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return [self.cleaned(value) for value in data]
        return data

    def neutral(self, text: str) -> str:
        """Replace the folders of this machine by labels."""
        return self._pattern.sub(lambda found: self._labels[found.group()], text)

    def short(self, filename: str) -> str:
        """Show a source file as it is imported: ``torch/utils/checkpoint.py``, or a case file's own name."""
        if not os.path.isabs(filename):
            return filename  # made up by an importer or a compiler, such as <string>
        for root in self._roots:
            if filename.startswith(os.path.join(root, "")):
                return os.path.relpath(filename, root).replace(os.sep, "/")
        return os.path.basename(filename)


def _can_stand_for_itself(folder: str) -> bool:
    """Tell whether the folder is worth a label: the root, which some containers call home, begins every path."""
    return os.path.isabs(folder) and os.path.dirname(folder) != folder


def _cut(text: str) -> str:
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= LIMIT else f"{text[:LIMIT]} … ({len(text) - LIMIT} more characters)"
