"""Runs the program of the package `oasis-live`: `python -m oasis up`."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

EXIT_NOT_FOUND = 127
"""As shells exit for a command that does not exist."""


def program() -> Path | None:
    """Return the path of the installed program, or None without the package."""
    try:
        files = distribution("oasis-live").files or []
    except PackageNotFoundError:
        return None
    # The list of `pip install --target` names another folder.
    beside = Path(__file__).parents[1] / "bin/oasis"
    listed = [Path(str(file.locate())) for file in files if file.parts[-2:] == ("bin", "oasis")]
    return next((path for path in [*listed, beside] if os.access(path, os.X_OK)), None)


def main() -> None:
    """Become the program, which then gets the signals of this process and has its exit code."""
    path = program()
    if path is None:
        print("oasis: oasis-monitor has no program: pip install oasis-live", file=sys.stderr)
        sys.exit(EXIT_NOT_FOUND)
    os.execv(path, [str(path), *sys.argv[1:]])  # noqa: S606


if __name__ == "__main__":
    main()
