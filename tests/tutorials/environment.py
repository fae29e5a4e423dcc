"""Where a page is followed: a folder outside of the repository, with a checkout, the programs and the ports of a test."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
# A slow machine builds the SDK for Rust in six minutes while it runs other tests.
TIMEOUT = 1200.0
# Ports of the documentation: page, nodes, devices, TEM, and another page with its nodes.
PORTS = (7070, 7071, 7075, 7000, 7080, 7081)


class FollowError(Exception):
    """A step that failed, with what it printed."""


def free_port() -> int:
    """A port of this host that nothing uses, below those that systems give to connections."""
    while True:
        port = random.randint(20_000, 29_999)
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            try:
                tcp.bind(("127.0.0.1", port))
                udp.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def end(process: subprocess.Popen[bytes], with_signal: signal.Signals) -> bool:
    """Sends a signal to what a script has started. Returns whether it ends within five seconds."""
    try:
        os.killpg(process.pid, with_signal)
        process.wait(timeout=5)
    except ProcessLookupError:
        process.wait()
    except subprocess.TimeoutExpired:
        return False
    return True


class PageEnvironment:
    """A folder for one page. Everything that it started ends with it."""

    def __init__(self, folder: Path, oasis: Path, wheel: Path | None) -> None:
        self.folder = folder
        self.oasis = oasis
        self.wheel = wheel
        self.ports = {port: free_port() for port in PORTS}
        self.state = folder / ".state"
        self.running: list[subprocess.Popen[bytes]] = []
        self.is_served = False
        self.state.mkdir(parents=True)
        self._link_checkout(folder / "oasis")
        programs = self.state / "bin"
        programs.mkdir()
        (programs / "oasis").symlink_to(oasis)
        (self.state / "cwd").write_text(str(folder))
        self._write_environment(programs)

    def _link_checkout(self, view: Path) -> None:
        """A checkout whose release is the build of this test."""
        release = view / "target" / "release"
        release.mkdir(parents=True)
        for entry in REPOSITORY.iterdir():
            if entry.name not in ("target", ".git", "build", "dist"):
                (view / entry.name).symlink_to(entry)
        for name in ("oasis", "liboasis.so", "liboasis.a"):
            (release / name).symlink_to(self.oasis.parent / name)

    def _write_environment(self, programs: Path) -> None:
        home = Path.home()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OASIS_", "CARGO_", "RUST"))
        }
        places = {
            "CARGO_HOME": os.environ.get("CARGO_HOME", f"{home}/.cargo"),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", f"{home}/.rustup"),
            "GOMODCACHE": f"{home}/go/pkg/mod",
            "GOCACHE": f"{home}/.cache/go-build",
        }
        # That of the tests, not of their virtual environment.
        python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        go = [str(REPOSITORY / "target/venv-go/bin"), kept["PATH"], "/usr/local/go/bin"]
        (programs / "python3").symlink_to(python)
        environment = (
            kept
            | places
            | {
                "HOME": str(self.folder / "home"),
                "PATH": ":".join([str(programs), *go]),
                "XDG_DATA_HOME": str(self.state / "data"),
                "XDG_STATE_HOME": str(self.state / "state"),
                "OASIS_LISTEN": f"127.0.0.1:{self.ports[7070]}",
                "OASIS_CHANNEL_LISTEN": f"127.0.0.1:{self.ports[7071]}",
                "OASIS_URL": self.page,
                # The dependencies of the repository are there already, and nothing else is needed.
                "CARGO_NET_OFFLINE": "true",
                "CARGO_TARGET_DIR": str(REPOSITORY / "target/tutorials/cargo"),
                "CARGO_PROFILE_DEV_DEBUG": "0",
                "GOFLAGS": "-mod=mod",
                "GOPROXY": "off",
                "PIP_NO_INDEX": "1",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                # Built by the tests: the package of Python, and what some of its examples need.
                "WHEEL": str(self.wheel or ""),
                "TEST_PACKAGES": sysconfig.get_path("purelib"),
            }
        )
        (self.folder / "home").mkdir()
        lines = [
            f"export {name}={shlex.quote(value)}\n"
            for name, value in environment.items()
            if name.isidentifier()
        ]
        (self.state / "environment").write_text("".join(lines))

    def install(self, oasis: Path) -> None:
        """Makes another program the one that commands find."""
        link = self.state / "bin/oasis"
        link.unlink()
        link.symlink_to(oasis)

    @property
    def page(self) -> str:
        """The address of the DAC."""
        return f"http://127.0.0.1:{self.ports[7070]}"

    def here(self, path: str) -> Path:
        """A path of the page, from the folder that it has reached."""
        return Path((self.state / "cwd").read_text().strip()) / path

    def with_ports(self, text: str) -> str:
        """The text with the ports of this test in place of those of the documentation."""
        for documented, port in self.ports.items():
            for before in ("127.0.0.1:", "127.0.0.1 ", "GATEWAY_PORT = "):
                text = text.replace(f"{before}{documented}", f"{before}{port}")
        return text

    def _script(self, command: str) -> list[str]:
        state = shlex.quote(str(self.state))
        begin = f'. {state}/environment; cd "$(cat {state}/cwd)"; set -euo pipefail'
        end = f"pwd > {state}/cwd; export -p > {state}/environment"
        return ["bash", "-c", f"{begin}\n{self.with_ports(command)}\n{end}"]

    def run(self, command: str) -> str:
        """Runs commands to their end. Where they change folder and variables, later ones have them. Returns the output."""
        process = subprocess.Popen(
            self._script(command),
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output = process.communicate(timeout=TIMEOUT)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output = process.communicate()[0].decode(errors="replace")
            raise FollowError(f"not done after {TIMEOUT:.0f} s:\n{output}") from None
        if process.returncode != 0:
            raise FollowError(f"status {process.returncode}:\n{output}")
        return output

    def start(self, command: str, ready: str) -> None:
        """Starts commands that run on, and waits until they have printed a text."""
        log = self.state / f"background-{len(self.running)}.log"
        with log.open("wb") as out:
            self.running.append(
                subprocess.Popen(
                    self._script(command),
                    env={},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        process = self.running[-1]
        deadline = time.monotonic() + TIMEOUT
        while ready not in (text := log.read_text(errors="replace")):
            if process.poll() is not None:
                raise FollowError(
                    f"ended with status {process.returncode} before it printed {ready!r}:\n{text}"
                )
            if time.monotonic() > deadline:
                raise FollowError(f"{ready!r} is not printed after {TIMEOUT:.0f} s:\n{text}")
            time.sleep(0.05)

    def serve(self) -> None:
        """Starts a DAC with its node, unless one runs."""
        if not self.is_served:
            self.start(
                "oasis up --no-archive --name my-host --probe processor@10 --probe memory@10", "is running"
            )
            self.is_served = True

    def wait_for_samples(self, name: str) -> None:
        """Waits until the DAC has received samples of an instance."""
        node, _, instance = name.partition("/")
        query = urllib.parse.urlencode({"node": node, "instance": instance}, quote_via=urllib.parse.quote)
        deadline = time.monotonic() + TIMEOUT
        answer: object = None
        while time.monotonic() < deadline:
            try:
                answer = listed = self._get(f"/api/v1/instances?{query}")["instances"]
                if listed:
                    answer = ledger = self._get(f"/api/v1/instances/{listed[0]['id']}")["ledger"]
                    if ledger["received"]:
                        return
            except OSError as error:
                answer = error
            if any(process.poll() for process in self.running):
                answer = "a program failed"
                break
            time.sleep(0.05)
        logs = "".join(log.read_text(errors="replace") for log in sorted(self.state.glob("background-*.log")))
        raise FollowError(f"no samples of {name} within {TIMEOUT:.0f} s: {answer}\n{logs}")

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(self.page + path, timeout=10) as response:
            return json.load(response)

    def stop(self) -> None:
        """Ends everything that runs, newest first."""
        for process in reversed(self.running):
            if not (end(process, signal.SIGINT) or end(process, signal.SIGTERM)):
                end(process, signal.SIGKILL)
        self.running.clear()
        self.is_served = False
