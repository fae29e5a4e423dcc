"""Programs of several processes and servers of several workers, for the tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dac import Dac, until

HANGS = 60.0
"""Seconds after which a program hangs."""


def environment(dac: Dac, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OASIS_")}
    return {**kept, "OASIS_DAC": dac.channel, "PYTHONPATH": ":".join(sys.path), **more}


def run(dac: Dac, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Python to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment(dac, **more),
        capture_output=True,
        text=True,
        timeout=HANGS,
    )


def program(folder: Path, name: str, text: str) -> str:
    file = folder / f"{name}.py"
    file.write_text(textwrap.dedent(text))
    return str(file)


@contextmanager
def serving(dac: Dac, folder: Path, *arguments: str, **more: str) -> Iterator[str]:
    """Run a server of the application with several workers."""
    with serving_process(dac, folder, *arguments, **more) as (url, _):
        yield url


@contextmanager
def serving_process(
    dac: Dac, folder: Path, *arguments: str, **more: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server, and yield its process too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [argument.replace("PORT", str(port)) for argument in arguments]
    server = subprocess.Popen([sys.executable, "-m", *words], env=environment(dac, **more), cwd=folder)
    try:
        yield f"http://127.0.0.1:{port}/", server
    finally:
        server.terminate()
        server.wait(timeout=HANGS)


def answer(url: str) -> int:
    """Return the number of the process that answers, once one does."""
    answers: list[int] = []

    def has_answered() -> bool:
        answers.extend(process for process in [answer_now(url)] if process is not None)
        return bool(answers)

    until(has_answered, lambda: "no worker answers", HANGS)
    return answers[0]


def answer_now(url: str) -> int | None:
    """Return the number of the process that answers; none while the server begins."""
    try:
        with urllib.request.urlopen(url, timeout=HANGS) as response:
            return int(response.read())
    except (urllib.error.URLError, ConnectionError):
        return None
