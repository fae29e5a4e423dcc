"""Follows the pages of the documentation as a newcomer does, and the programs of `oasis init` (`make test-tutorials`).

    tests/tutorials/run.py [--wheel FILE] OASIS [NAME …]

OASIS is the program, beside its library for C. A name is that of a page, such as docs/tutorial.md, or `init c`. With
`packaged` after it, program and SDKs lie as a package installs them. Each is followed in a folder of its own outside of
the repository, with a DAC of its own.
"""

from __future__ import annotations

import argparse
import fcntl
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import package
import page
from environment import REPOSITORY, FollowError, PageEnvironment

PAGES = [
    "README.md",
    "docs/tutorial.md",
    *(f"docs/sdk/{path.name}" for path in sorted((REPOSITORY / "docs/sdk").glob("*.md"))),
]
PACKAGED = ["rust", "c", "cpp", "c99", "python", "java", "go", "typescript"]
# Crates of a checkout compile in docs/tutorial.md.
LANGUAGES = [
    *("c", "c installed", "cpp", "cpp installed", "c99", "python", "java", "go"),
    *(f"{language} packaged" for language in PACKAGED),
]
# Outside of the repository, and of each checkout its own.
PLACE = Path(tempfile.gettempdir()).resolve() / f"oasis-tutorials-{zlib.crc32(bytes(REPOSITORY)):08x}"
# Cargo and compilers use more than one processor.
AT_ONCE = 3
# Program and SDKs as a package installs them.
STAGED = PLACE / "package"


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


# Set when the files of the package are there, or cannot be made.
staged = threading.Event()
# Programs that no configuration file or no address of a DAC reaches refuse to start with these variables.
REFUSED = {"c99": ["OASIS_CONFIG", "OASIS_DAC"], "java": ["OASIS_CONFIG"], "go": ["OASIS_CONFIG"]}


def follow_init(name: str, at: PageEnvironment) -> None:
    """Makes a program, and does what its own README says."""
    _, language, *kind = name.split()
    if language == "rust":
        at.run(f"oasis init checked --lang rust --sdk {at.folder}/oasis")
        at.run("cargo metadata --quiet --format-version 1 --manifest-path checked/Cargo.toml > metadata.json")
    at.run(f"oasis init my-{language} --lang {language}{sdk_flag(language, kind, at)} | tee printed")
    printed = at.here("printed").read_text()
    # A folder that has something of another language is left alone.
    again = at.run(f"! oasis init my-{language} --lang {language}{sdk_flag(language, kind, at)}")
    if "exists and stays as it is" not in again:
        raise FollowError(f"a second time is not refused:\n{again}")
    if not printed.startswith("Needs ") or "\nMissing" in printed or "\nToo old" in printed:
        raise FollowError(f"it does not say what it needs, or lacks some of it:\n{printed}")
    at.run(f"cd my-{language}")
    written = {str(path.relative_to(at.folder)) for path in at.here("").rglob("*") if path.is_file()}
    named = set(re.findall(rf"^my-{language}/\S+$", printed, re.MULTILINE))
    if written != named:
        raise FollowError(f"it wrote {sorted(written)}, and named {sorted(named)}")
    # Programs find the DAC of this test by the variable alone.
    for path in (at.here("oasis.toml"), at.here("main.c")):
        if path.is_file():
            path.write_text(at.with_ports(path.read_text()))
    readme = at.here("README.md").read_text()
    up, build, run = re.findall(r"^```sh\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    for command in (up, build, run):
        if command.strip() not in printed:
            raise FollowError(f"the README has a command that is not printed: {command}")
    at.start(up, "is running")
    at.run(build)
    for variable in REFUSED.get(language, []):
        refusal = at.run(f"! {variable}=127.0.0.1:1 {run}")
        if f"{variable}" not in refusal or "refused" not in refusal:
            raise FollowError(f"{variable} is not refused:\n{refusal}")
    if language == "typescript":
        at.start(run, "idle_time=")
        return
    at.start(f"{settings(language, kind, at)}{run}", "runs; Ctrl-C ends it.")
    at.wait_for_samples(f"my-{language}/motor")


def sdk_flag(language: str, kind: list[str], at: PageEnvironment) -> str:
    """Returns the flag that names the SDK. A program of a package finds its own."""
    if kind == ["packaged"]:
        at.install(STAGED / "usr/bin/oasis")
        return ""
    if kind == ["installed"]:
        release = f"{at.folder}/oasis/target/release"
        given = f"-DOASIS_LIBRARY_DIR={release} -DOASIS_PROGRAM={release}/oasis"
        prefix = f"{at.folder}/prefix"
        at.run(f"cmake -S oasis/sdk/cpp -B sdk-build {given} && cmake --install sdk-build --prefix {prefix}")
        return f" --sdk {prefix}"
    return " --sdk $WHEEL" if language == "python" else f" --sdk {at.folder}/oasis"


def settings(language: str, kind: list[str], at: PageEnvironment) -> str:
    """Returns the variable that names the DAC to a program: its address, or a file that has it."""
    if language == "c99":
        return ""
    address = at.with_ports("127.0.0.1:7071")
    if kind == ["packaged"] or language in ("java", "go"):
        return f"OASIS_DAC={address} "
    at.here("node.toml").write_text(f'[node]\ndac = "{address}"\n')
    return "OASIS_CONFIG=node.toml "


def is_packaged(name: str) -> bool:
    """Whether program and SDKs lie as a package installs them."""
    return name.endswith(" packaged")


def stage(oasis: Path, wheel: Path | None) -> tuple[str, float, str]:
    """Makes what the packaged programs need. Returns the same as `attempt`."""
    started = time.monotonic()
    problem = ""
    try:
        package.stage(STAGED, oasis, wheel)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        problem = str(error)
    finally:
        staged.set()
    return "files of a package", time.monotonic() - started, problem


def attempt(name: str, oasis: Path, wheel: Path | None) -> tuple[str, float, str]:
    """Follows a page or an `init`. Returns its name, seconds, and the problem, if there is one."""
    started = time.monotonic()
    way: Callable[[str, PageEnvironment], None] = follow_init if name.startswith("init ") else follow_page
    problem = ""
    if is_packaged(name):
        staged.wait()
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
    init = [f"init {language}" for language in LANGUAGES]
    # Packages are made beside the first ones.
    known = [*(name for name in init if not is_packaged(name)), *PAGES, *filter(is_packaged, init)]
    if unknown := set(arguments.names) - set(known):
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(known)}")
    is_whole = True
    names = arguments.names or known
    PLACE.mkdir(parents=True, exist_ok=True)
    # One run at a time holds the lock.
    held = (PLACE / "lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    staging = [lambda: stage(oasis, wheel)] if any(map(is_packaged, names)) else []
    ways = [lambda name=name: attempt(name, oasis, wheel) for name in names]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, seconds, problem in pool.map(lambda way: way(), staging + ways):
            print(f"{'FAILED' if problem else 'ok':8}{name}  ({seconds:.0f} s)", flush=True)
            if problem:
                is_whole = False
                print(problem, flush=True)
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
