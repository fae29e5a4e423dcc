"""Chooses the checks that depend on a few folders only: `python3 .ci/partial_checks.py` prints the choice.

A partial check runs if a file that it depends on differs from the last commit that is known to be green, and always if
that commit is not known. `LAST_GREEN` names it, else the file `.ci/last-green`.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAST_GREEN_FILE = ".ci/last-green"

# A change here can change the result of every check.
COMMON = (".cargo/", ".ci/partial_checks.py", "Makefile")
# Versions of dependencies.
DEPENDENCIES = ("Cargo.lock", "Cargo.toml")
# Locks of other workspaces. A new crate of ours changes them, and nothing that the checks of these workspaces see.
OTHER_LOCKS = ("lab/Cargo.lock", "tests/oracles/Cargo.lock")

# Folders that each check depends on, with a slash at their ends. `make NAME` runs the check.
PARTIAL_CHECKS = {
    "test-nats": (*DEPENDENCIES, "crates/nats/", "tests/end_to_end/nats", "crates/oasis/src/live/through_nats.rs"),
    "test-dds": (*DEPENDENCIES, "crates/dds/", "tests/end_to_end/dds", "crates/oasis/src/live/through_dds.rs"),
    "test-oracles": ("crates/rules/", "crates/wire/src/unit", "tests/oracles/"),
    "test-embedded": ("sdk/embedded/", "crates/gateway/", "crates/pdl-gen/", "crates/wire/", "vectors/"),
    "test-java": ("sdk/java/", "crates/pdl-gen/", "crates/channel/", "crates/dac/", "crates/wire/", "vectors/"),
    "test-go": (
        "sdk/go/",
        "crates/http/",
        "crates/sources/otlp/",
        "tests/end_to_end/otlp",
        "crates/pdl-gen/",
        "crates/channel/",
        "crates/dac/",
        "crates/wire/",
        "vectors/",
    ),
    # Tests compare generated pages with what a DAC answers today, and with the runs that are committed.
    "test-lab": (
        "lab/",
        "crates/doors/",
        "crates/http/",
        "crates/probe/",
        "crates/websocket/",
        "crates/wire/",
        "docs/evidence/overhead.md",
        "docs/evidence/papers.md",
        "docs/evidence/papers/",
    ),
    "test-faults": ("lab/", "crates/channel/", "crates/dac/", "crates/node/", "crates/probe/", "crates/store/"),
}


# Folders that checks of nearly everything do not depend on. A file elsewhere makes them run.
UNRELATED = {
    "test-browser": (
        ".ci/last-green",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
        "crates/backup/",
        "crates/c-abi/",
        "crates/dds/",
        "crates/gateway/",
        "crates/handlers/postgresql/",
        "crates/lsp/",
        "crates/nats/",
        "crates/python/",
        "crates/serial/",
        "crates/sim/",
        "crates/sources/",
        "crates/tracing/",
        "docs/",
        "editors/",
        "examples/",
        "fuzz/",
        "lab/",
        "packaging/",
        "sdk/c/",
        "sdk/cpp/",
        "sdk/embedded/",
        "sdk/go/",
        "sdk/java/",
        "sdk/python/",
        "tests/end_to_end/",
        "tests/light/",
        "tests/oracles/",
        "tests/structure/",
        "tests/tutorials/",
    ),
}
# Files in those folders that such a check depends on nevertheless: the page contains its reference.
RELATED = {"test-browser": ("docs/reference/page.md",)}


def changed_files(last_green: str | None) -> list[str] | None:
    """The files that differ from the last green commit, those not committed included; None if that is not known."""
    if not last_green:
        return None
    known = subprocess.run(
        ["git", "merge-base", "--is-ancestor", last_green, "HEAD"], cwd=ROOT, capture_output=True, check=False
    )
    if known.returncode != 0:
        return None
    listed = [
        ["git", "diff", "--name-only", "--no-renames", last_green],
        ["git", "ls-files", "--others", "--exclude-standard"],
    ]
    return [
        name
        for command in listed
        for name in subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    ]


def choose(changed: list[str] | None) -> dict[str, str | None]:
    """For each partial check why it runs; None if it does not."""
    if changed is None:
        return dict.fromkeys([*PARTIAL_CHECKS, *UNRELATED], "the last green commit is not known")
    positive = {
        check: next((name for name in changed if name.startswith(COMMON + folders) and name not in OTHER_LOCKS), None)
        for check, folders in PARTIAL_CHECKS.items()
    }
    negative = {
        check: next((name for name in changed if name.startswith(RELATED[check]) or not is_unrelated(name, folders)), None)
        for check, folders in UNRELATED.items()
    }
    return {check: name and f"{name} changed" for check, name in (positive | negative).items()}


def is_unrelated(name: str, folders: tuple[str, ...]) -> bool:
    """Whether a file is in one of the folders, or a test of a crate."""
    is_test = name.startswith("crates/") and "/tests/" in name
    return is_test or name.startswith(folders)


def last_green() -> str | None:
    """The last commit that is known to be green."""
    file = ROOT / LAST_GREEN_FILE
    return os.environ.get("LAST_GREEN") or (file.read_text().strip() if file.exists() else None)


def report(choice: dict[str, str | None], since: str | None) -> list[str]:
    """The choice as lines for people."""
    return [
        f"{check}: runs, {reason}" if reason else f"{check}: left out, its files are as in {str(since)[:12]}"
        for check, reason in choice.items()
    ]


if __name__ == "__main__":
    commit = last_green()
    print("\n".join(report(choose(changed_files(commit)), commit)))
    sys.exit(0)
