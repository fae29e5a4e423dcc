"""Follows the pages of the documentation as a newcomer does, and the programs of `oasis init` (`make test-tutorials`).

    tests/tutorials/run.py [--wheel FILE] OASIS [NAME …]

OASIS is the program, beside its library for C. A name is that of a page, such as docs/tutorial.md, or `init rust`.
Each is followed in a folder of its own outside of the repository, with a DAC of its own.
"""

from __future__ import annotations

import argparse
import fcntl
import re
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import page
from environment import REPOSITORY, FollowError, PageEnvironment

PAGES = [
    "README.md",
    "docs/tutorial.md",
    *(f"docs/sdk/{path.name}" for path in sorted((REPOSITORY / "docs/sdk").glob("*.md"))),
]
LANGUAGES = ["rust", "c", "c installed", "cpp", "cpp installed", "c99", "python", "java", "go"]
# Outside of the repository, and of each checkout its own.
PLACE = Path(tempfile.gettempdir()).resolve() / f"oasis-tutorials-{zlib.crc32(bytes(REPOSITORY)):08x}"
# Cargo and compilers use more than one processor.
AT_ONCE = 3


def follow_page(name: str, at: PageEnvironment) -> None:
    """Follows a page step by step. Raises FollowError or page.PageError, which name the line."""
    step = page.Step(1, "none")
    try:
        for step in page.read(REPOSITORY / name):
            follow(step, at)
    except (FollowError, OSError) as error:
        raise FollowError(f"{name}:{step.line}: {step.code or step.text}\n{error}") from None


def follow(step: page.Step, at: PageEnvironment) -> None:
    """Does what a step says."""
    if step.verb in ("file", "append"):
        target = at.here(step.text)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a" if step.verb == "append" else "w") as out:
            out.write(at.with_ports(step.code))
    elif step.verb == "insert":
        path, _, line = step.text.partition(": ")
        insert(at, path, line, step.code)
    elif step.verb == "background":
        at.start(all_commands(step), step.text)
    elif step.verb == "background_with":
        at.start(f"{all_commands(step).rstrip()} {step.text}", "")
    elif step.verb in ("do", "instead"):
        at.run(step.text)
    elif step.verb == "serve":
        at.serve()
    elif step.verb == "samples":
        at.wait_for_samples(step.text)
    elif step.verb == "stop":
        at.stop()
    elif step.verb == "checked":
        check_elsewhere(step.text)
    elif step.verb == "run":
        for command, expected in page.commands(step):
            output = at.run(command)
            if expected and not page.shows(expected, output):
                raise FollowError(
                    "the page shows\n" + "\n".join(expected) + f"\nand the command prints\n{output}"
                )


def all_commands(step: page.Step) -> str:
    """The commands of a block, without the output that the page shows."""
    return "\n".join(command for command, _ in page.commands(step))


def insert(at: PageEnvironment, path: str, line: str, code: str) -> None:
    """Puts code into a file, after the first line that has a text."""
    lines = at.here(path).read_text().splitlines(keepends=True)
    places = [number for number, found in enumerate(lines) if line in found]
    if not places:
        raise FollowError(f"{path} has no line with {line!r}")
    lines.insert(places[0] + 1, at.with_ports(code))
    at.here(path).write_text("".join(lines))


def check_elsewhere(path: str) -> None:
    """Checks that a test still names the documentation."""
    text = (REPOSITORY / path).read_text().lower()
    if "documentation" not in text and "docs/sdk" not in text:
        raise FollowError(f"{path} tests no documentation any more")


def follow_init(name: str, at: PageEnvironment) -> None:
    """Makes a program, and does what its own README says."""
    _, language, *kind = name.split()
    sdk = "$WHEEL" if language == "python" else f"{at.folder}/oasis"
    if kind == ["installed"]:
        sdk = f"{at.folder}/prefix"
        release = f"{at.folder}/oasis/target/release"
        given = f"-DOASIS_LIBRARY_DIR={release} -DOASIS_PROGRAM={release}/oasis"
        at.run(f"cmake -S oasis/sdk/cpp -B sdk-build {given} && cmake --install sdk-build --prefix {sdk}")
    # A folder that has something of another language is left alone.
    printed = at.run(f"oasis init my-{language} --lang {language} --sdk {sdk}")
    again = at.run(f"! oasis init my-{language} --lang {language} --sdk {sdk}")
    if "exists and stays as it is" not in again:
        raise FollowError(f"a second time is not refused:\n{again}")
    at.run(f"cd my-{language}")
    written = {str(path.relative_to(at.folder)) for path in at.here("").rglob("*") if path.is_file()}
    named = set(re.findall(rf"^my-{language}/\S+$", printed, re.MULTILINE))
    if written != named:
        raise FollowError(f"it wrote {sorted(written)}, and named {sorted(named)}")
    for path in at.here("").rglob("*"):
        if path.is_file():
            path.write_text(at.with_ports(path.read_text()))
    readme = at.here("README.md").read_text()
    up, build, run = re.findall(r"^```sh\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    for command in (up, build, run):
        if at.with_ports(command).strip() not in at.with_ports(printed):
            raise FollowError(f"the README has a command that is not printed: {command}")
    at.start(up, "is running")
    at.run(build)
    at.start(run, "runs; Ctrl-C ends it.")
    at.wait_for_samples(f"my-{language}/motor")


def attempt(name: str, oasis: Path, wheel: Path | None) -> tuple[str, float, str]:
    """Follows a page or an `init`. Returns its name, seconds, and the problem, if there is one."""
    started = time.monotonic()
    way: Callable[[str, PageEnvironment], None] = follow_init if name.startswith("init ") else follow_page
    problem = ""
    # Cargo compiles a package again if its folder has another name.
    folder = PLACE / re.sub(r"\W+", "-", name)
    shutil.rmtree(folder, ignore_errors=True)
    at = PageEnvironment(folder, oasis, wheel)
    try:
        way(name, at)
    except (FollowError, page.PageError) as error:
        problem = str(error)
    finally:
        at.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return name, time.monotonic() - started, problem


def main() -> int:
    """Follows all of it, and reports each that fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("oasis", type=Path)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    oasis = arguments.oasis.resolve()
    wheel = arguments.wheel and arguments.wheel.resolve()
    known = [*(f"init {language}" for language in LANGUAGES), *PAGES]
    if unknown := set(arguments.names) - set(known):
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(known)}")
    is_whole = True
    PLACE.mkdir(parents=True, exist_ok=True)
    # One run at a time holds the lock.
    held = (PLACE / "lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, seconds, problem in pool.map(
            lambda name: attempt(name, oasis, wheel), arguments.names or known
        ):
            print(f"{'FAILED' if problem else 'ok':8}{name}  ({seconds:.0f} s)", flush=True)
            if problem:
                is_whole = False
                print(problem, flush=True)
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
