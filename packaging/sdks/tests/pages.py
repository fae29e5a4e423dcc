"""The examples of the documentation: fenced blocks of its pages."""

from __future__ import annotations

import platform
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def block(page: str, language: str, containing: str = "") -> str:
    """Return the first block of a language on a page that contains a text.

    Packages are named there as on a usual machine; here they are those of this one.
    """
    text = (DOCS / page).read_text()
    for match in re.finditer(r"^```(\S*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if match[1] == language and containing in match[2]:
            return match[2].replace("x86_64", platform.machine())
    raise LookupError(f"docs/{page} has no block of {language} with {containing!r}")


def commands(page: str, containing: str) -> list[str]:
    """Return the commands of a session in a terminal, of the block that contains a text."""
    lines = block(page, "console", containing).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
