"""Lays out the program and the SDKs as a package installs them, of what the tests have built."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environment import REPOSITORY

CLASSES = REPOSITORY / "target/tutorials/classes"
JAR = REPOSITORY / "target/tutorials/oasis-monitor.jar"


def stage(folder: Path, oasis: Path, wheel: Path | None) -> None:
    """Fills a folder with usr/bin/oasis and usr/share/oasis/sdk."""
    with ThreadPoolExecutor() as pool:
        steps = [
            lambda: _run("packaging/sdks/crates.sh"),
            lambda: _run("packaging/sdks/npm.sh"),
            _make_jar,
        ]
        for done in [pool.submit(step) for step in steps]:
            done.result()
    (npm,) = (REPOSITORY / "dist").glob("oasis-wire-*.tgz")
    (crates,) = (
        path for path in (REPOSITORY / "target/package-crates").glob("oasis-crates-*") if path.is_dir()
    )
    new = folder.with_name("package.new")
    shutil.rmtree(new, ignore_errors=True)
    _run("packaging/sdks/lay_out.sh", oasis.parent, wheel or "", JAR, npm, crates, new / "usr")
    (new / "usr/bin").mkdir()
    # A link to the program would lead to this checkout.
    try:
        os.link(oasis, new / "usr/bin/oasis")
    except OSError:
        shutil.copy2(oasis, new / "usr/bin/oasis")
    _keep_unchanged(folder, new)
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def _make_jar() -> None:
    """Makes the jar without Maven, which would make its documentation too."""
    sources = sorted((REPOSITORY / "sdk/java/src/main/java").rglob("*.java"))
    shutil.rmtree(CLASSES, ignore_errors=True)
    _run("javac", "--release", "17", "-d", CLASSES, *sources)
    resources = REPOSITORY / "sdk/java/src/main/resources"
    _run("jar", "--create", "--file", JAR, "-C", CLASSES, ".", "-C", resources, ".")


def _keep_unchanged(old: Path, new: Path) -> None:
    """Gives files with the same content their former times, so that Cargo does not compile their crates again."""
    for path in new.rglob("*"):
        former = old / path.relative_to(new)
        if path.is_file() and former.is_file() and filecmp.cmp(path, former, shallow=False):
            os.utime(path, ns=(former.stat().st_atime_ns, former.stat().st_mtime_ns))


def _run(*command: str | Path) -> None:
    """Runs a command of the repository."""
    subprocess.run([str(word) for word in command], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
