"""Checks what changed since the last commit: `python3 .ci/quick_check.py` (`make check`). Everything, if nothing did.

Rust: lints and unit tests of the crates with changed files, and a compilation of the crates that depend on them.
TypeScript: lints of the changed files, types, and the unit tests that import them. Python: lints. Documentation: all checks.
The complete checks are `make lint` and `make test`.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Integration tests that take seconds: of the structure, the codec and the language.
FAST_TESTS = ("oasis-structure", "oasis-wire", "oasis-pdl")
SLOW_MODULES = ("growth::", "hostile::", "format_properties::")
# A change here can concern every crate.
EVERY_CRATE = ("Cargo.toml", "Cargo.lock", ".cargo/", "rustfmt.toml", "clippy.toml")
TYPESCRIPT = (".ts", ".tsx", ".mts", ".js", ".css")

Command = list[str]


def changed_files() -> list[str]:
    """Files that differ from the last commit, new ones included; without those that were deleted."""
    listed = [
        ["git", "diff", "--name-only", "--no-renames", "HEAD"],
        ["git", "ls-files", "--others", "--exclude-standard"],
    ]
    names = [
        name
        for command in listed
        for name in subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    ]
    return [name for name in names if (ROOT / name).exists()]


def crate_folders() -> dict[str, str]:
    """The folder of each member of the workspace, with a slash at its end, and the name of the crate."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked", "--offline"]
    members = json.loads(subprocess.check_output(command, cwd=ROOT))["packages"]
    return {f"{Path(member['manifest_path']).parent.relative_to(ROOT)}/": member["name"] for member in members}


def crates_of(changed: list[str], folders: dict[str, str]) -> list[str]:
    """The crates with changed files: of several folders around a file the innermost one."""
    found = set()
    for name in changed:
        around = [folder for folder in folders if name.startswith(folder)]
        if around:
            found.add(folders[max(around, key=len)])
    return sorted(found)


def rust_commands(changed: list[str], folders: dict[str, str]) -> list[Command]:
    """Lints and tests of the changed crates; of every crate, if what all depend on has changed."""
    cargo = ["cargo", "--quiet"]
    skipped = [word for module in SLOW_MODULES for word in ("--skip", module)]
    if any(name.startswith(EVERY_CRATE) for name in changed):
        fast = [word for crate in FAST_TESTS for word in ("--package", crate)]
        return [
            ["cargo", "fmt", "--all", "--check"],
            [*cargo, "clippy", "--all-targets", "--locked", "--", "-D", "warnings"],
            [*cargo, "test", "--locked", "--lib", "--bins"],
            [*cargo, "test", "--locked", *fast, "--test", "integration", "--", *skipped],
        ]
    crates = crates_of(changed, folders)
    if not crates:
        return []
    packages = [word for crate in crates for word in ("--package", crate)]
    fast = [word for crate in FAST_TESTS if crate in crates or crate == FAST_TESTS[0] for word in ("--package", crate)]
    return [
        ["cargo", "fmt", *packages, "--check"],
        [*cargo, "check", "--locked", "--workspace"],
        [*cargo, "clippy", "--all-targets", "--locked", *packages, "--", "-D", "warnings"],
        [*cargo, "test", "--locked", "--lib", "--bins", *packages],
        [*cargo, "test", "--locked", *fast, "--test", "integration", "--", *skipped],
    ]


def typescript_commands(changed: list[str]) -> list[Command]:
    """Lints, types and the tests that import a changed file."""
    sources = [name for name in changed if name.endswith(TYPESCRIPT) and not name.startswith(("docs/", "crates/"))]
    if not sources:
        return []
    commands = [["npx", "biome", "ci", *sources], ["npm", "run", "types", "--workspaces", "--silent"]]
    for workspace in ("sdk/typescript", "web"):
        related = [name for name in sources if name.startswith((f"{workspace}/", "sdk/typescript/src/"))]
        if related:
            files = [str(ROOT / name) for name in related]
            commands.append(["npm", "exec", "--workspace", workspace, "--", "vitest", "related", "--run", "--reporter=dot", *files])
    return commands


def commands_for(changed: list[str], folders: dict[str, str]) -> list[Command]:
    """What checks these files; without any, all lints and unit tests."""
    if not changed:
        targets = ["make", "--no-print-directory", "lint-python", "test-gate", "check-docs"]
        return [*rust_commands(["Cargo.toml"], folders), ["npm", "run", "lint"], ["npm", "test"], targets]
    commands = rust_commands(changed, folders) + typescript_commands(changed)
    if any(name.endswith(".py") for name in changed):
        commands.append(["make", "--no-print-directory", "lint-python"])
    if any(name.startswith(".ci/") for name in changed):
        commands.append(["make", "--no-print-directory", "test-gate"])
    if any(name.endswith(".md") or name.startswith("docs/") for name in changed):
        commands.append(["make", "--no-print-directory", "check-docs"])
    return commands


def main() -> int:
    for command in commands_for(changed_files(), crate_folders()):
        started = time.monotonic()
        print("$", " ".join(command)[:160], flush=True)
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            return 1
        print(f"  {time.monotonic() - started:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
