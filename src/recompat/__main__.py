"""``recompat``, and ``python -m recompat``."""

from __future__ import annotations

import sys

from recompat.ending import ends_well

__all__ = ["main"]


def main() -> None:
    """Run the command line; a fault of recompat's own, be it at import, ends with the exit code for it."""
    with ends_well():
        from recompat.cli import run

        run(sys.argv[1:])


if __name__ == "__main__":
    main()
