"""A DAC for each test, and a folder outside of this tree that has nothing of it but packages."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
DIST = ROOT / "dist"
# The program to test with: that of `make package-sdks` has none.
OASIS = Path(os.environ.get("OASIS_BIN", ROOT / "target/debug/oasis")).resolve()
# Variables of the environment that find programs and caches; those that would help a package are left out.
KEPT_VARIABLES = ["CARGO_HOME", "HOME", "JAVA_HOME", "LANG", "PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"]
# For a sample to arrive, or a node to connect.
PATIENCE = 60.0
# For compilers.
BUILD_PATIENCE = 1200.0


class Dac:
    """A DAC with the node `my-host`, as `oasis up --name my-host` starts it, on ports of its own."""

    def __init__(self, state: Path) -> None:
        command = [OASIS, "up", "--name", "my-host", "--no-archive", "--listen", "127.0.0.1:0"]
        command += ["--channel-listen", "127.0.0.1:0", "--ready-json"]
        env = {**os.environ, "XDG_STATE_HOME": str(state)}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        assert self._process.stdout is not None
        ready = json.loads(self._process.stdout.readline())
        self.http: str = ready["http"]
        self.channel: str = ready["channel"]

    def end(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE)

    def at(self, text: str) -> str:
        """Put the addresses of this DAC in the place of those that the documentation names."""
        text = text.replace("127.0.0.1:7071", self.channel)
        return text.replace("127.0.0.1:7070", self.http.removeprefix("http://"))

    def ledger(self, node: str, instance: str) -> dict[str, Any] | None:
        """Find what is known of an instance's samples."""
        with urllib.request.urlopen(f"{self.http}/api/v1/ledger", timeout=PATIENCE) as answer:
            known = json.load(answer)["instances"]
        return next(
            (one["ledger"] for one in known if (one["node"], one["instance"]) == (node, instance)), None
        )

    def until_received(self, node: str, instance: str, count: int = 1) -> None:
        """Wait until so many samples of an instance have arrived."""
        deadline = time.monotonic() + PATIENCE
        while (ledger := self.ledger(node, instance)) is None or ledger["received"] < count:
            assert time.monotonic() < deadline, ledger
            time.sleep(0.02)


class Workplace:
    """A folder outside of the tree, and commands that run there."""

    def __init__(self, folder: Path, compiled: Path) -> None:
        self.folder = folder
        self.compiled = compiled
        self.env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        self.env["CARGO_TARGET_DIR"] = str(compiled)
        # `oasis` as an installed program would be found.
        programs = folder / "programs"
        programs.mkdir()
        (programs / "oasis").symlink_to(OASIS)
        self.env["PATH"] = f"{programs}:{self.env['PATH']}"

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def take(self, pattern: str) -> Path:
        """Copy the package of `dist` whose name matches."""
        found = sorted(DIST.glob(pattern))
        assert len(found) == 1, f"{pattern} in dist: {found}; make package-sdks"
        target = self.folder / found[0].name
        target.write_bytes(found[0].read_bytes())
        return target

    def run(self, script: str) -> str:
        """Run commands of the documentation, of which none may fail; return what they print."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BUILD_PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}"
        return done.stdout

    def hide(self, program: str) -> None:
        """Let commands find no such program."""
        folders = self.env["PATH"].split(":")
        self.env["PATH"] = ":".join(folder for folder in folders if not (Path(folder) / program).exists())

    def start(self, *command: str | Path) -> subprocess.Popen[str]:
        """Start a program that runs until it is ended."""
        return subprocess.Popen(command, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def dac(tmp_path: Path) -> Iterator[Dac]:
    """Run a DAC."""
    running = Dac(tmp_path / "state")
    yield running
    running.end()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder in which Cargo keeps what several projects depend on."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def workplace(tmp_path: Path, compiled: Path) -> Workplace:
    """Make a folder for a project."""
    assert not tmp_path.is_relative_to(ROOT), "packages are tested outside of the tree: --basetemp"
    folder = tmp_path / "project"
    folder.mkdir()
    return Workplace(folder, compiled)
