"""A page as steps: the blocks of its code, and what marks in comments say of them.

A mark is a comment `<!-- tutorial: VERB TEXT -->`, which no reader sees. It says something of the next block:

    file PATH           the block is a file
    append PATH         it is the end of a file
    insert PATH: LINE   it goes into a file, after the first line with this text
    background TEXT     its commands run on; they are ready once they print the text
    background_with ARGUMENTS    the same, for a program that gets the address of the DAC as an argument
    instead COMMAND     this runs in its place
    checked PATH        a test in this file runs it
    skip REASON         nothing runs it

or stands for itself:

    do COMMAND          runs it
    serve               starts a DAC, unless one runs
    samples NAME        waits for samples of NODE/INSTANCE at the DAC
    stop                ends what runs in the background

A block of commands without a mark is run. `$` begins commands of a `console` block; its other lines are their output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

OF_BLOCKS = {"file", "append", "insert", "background", "background_with", "instead", "checked", "skip"}
ALONE = {"do", "serve", "samples", "stop"}
COMMANDS = {"sh", "console"}

_PARTS = re.compile(
    r"^<!-- tutorial: (?P<verb>\w+) ?(?P<text>.*?) ?-->$|^(?P<indent> *)```(?P<language>[\w+]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


class PageError(Exception):
    """A page that cannot be followed. The text names the line."""


@dataclass(frozen=True)
class Step:
    """What to do with a block, or alone."""

    line: int
    verb: str
    text: str = ""
    language: str = ""
    code: str = ""


def steps(name: str, text: str) -> list[Step]:
    """The steps of a page, in order. Raises PageError for a block that no mark explains and a mark without its block."""
    found: list[Step] = []
    mark: Step | None = None
    for part in _PARTS.finditer(text):
        line = text[: part.start()].count("\n") + 1
        if verb := part["verb"]:
            if mark:
                raise PageError(f"{name}:{mark.line}: the mark `{mark.verb}` has no block")
            step = Step(line, verb, " ".join(part["text"].split()))
            if verb in ALONE:
                found.append(step)
            elif verb in OF_BLOCKS:
                mark = step
            else:
                raise PageError(f"{name}:{line}: there is no mark `{verb}`")
            continue
        language, code = part["language"], re.sub(f"^{part['indent']}", "", part["code"], flags=re.MULTILINE)
        if mark:
            found.append(Step(line, mark.verb, mark.text, language, code))
        elif language in COMMANDS:
            found.append(Step(line, "run", "", language, code))
        elif language:
            raise PageError(f"{name}:{line}: no mark says what to do with this block of {language}")
        mark = None
    if mark:
        raise PageError(f"{name}:{mark.line}: the mark `{mark.verb}` has no block")
    return found


def commands(step: Step) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the output that the page shows."""
    if step.language != "console":
        return [(step.code, [])]
    found: list[tuple[str, list[str]]] = []
    for line in step.code.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        elif found:
            found[-1][1].append(line)
    return found


def shows(expected: list[str], output: str) -> bool:
    """Whether the lines stand in the output in this order. `…` is any text."""
    patterns = (".*".join(map(re.escape, line.rstrip().split("…"))) for line in expected)
    return re.search(r"^" + r"\s*\n(?:.*\n)*?".join(patterns), output, re.MULTILINE) is not None


def read(path: Path) -> list[Step]:
    """The steps of a file."""
    return steps(str(path), path.read_text())
