"""``recompat``, and ``python -m recompat``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; a fault of recompat's own keeps its traceback, and ends with the exit code for it."""
    from recompat.cli import run
    from recompat.errors import ExitCode

    try:
        run(sys.argv[1:])
    except Exception:  # noqa: BLE001 - the outermost layer
        import traceback

        traceback.print_exc()
        print("recompat: this is a fault in recompat itself; please report it with what stands above.", file=sys.stderr)  # noqa: T201
        raise SystemExit(int(ExitCode.INTERNAL)) from None


if __name__ == "__main__":
    main()
