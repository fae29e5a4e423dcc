"""A real DAC for the tests, and what it says of a node."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target"))
OASIS = str(TARGET / "debug" / "oasis")
ANY_PORT = "127.0.0.1:0"
PATIENCE = 20.0


class Dac:
    """A DAC or TEM that said it is ready."""

    def __init__(self, ready: dict[str, Any], process: subprocess.Popen[str]) -> None:
        # A TEM takes no nodes.
        self.channel: str = ready.get("channel", "")
        self.http: str = ready["http"]
        self._process = process

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.wait(timeout=PATIENCE)

    def until_it_lists(self, *names: str) -> None:
        """Wait until DACs are live in the list of this TEM."""

        def are_live() -> bool:
            dacs = self.get("/api/v1/tem")["dacs"]
            return set(names) <= {dac["name"] for dac in dacs if dac["state"] == "live"}

        until(are_live, lambda: self.get("/api/v1/tem"))

    def tail(self, instance: str, count: int) -> list[Any]:
        """Fetch the metrics of the first samples of `NODE/INSTANCE`, waiting for so many."""
        url = self.http.replace("http:", "ws:") + "/ws"
        arguments = [
            "tail",
            instance,
            "--from-earliest",
            "--format",
            "json",
            "--count",
            str(count),
            "--url",
            url,
        ]
        tail = subprocess.run([OASIS, *arguments], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
        return [json.loads(line)["metrics"] for line in tail.stdout.splitlines()]

    def get(self, path: str) -> Any:
        """Fetch a document of the API."""
        return json.loads(self.fetch(path))

    def fetch(self, path: str) -> bytes:
        """Fetch anything."""
        with urllib.request.urlopen(self.http + path, timeout=PATIENCE) as answer:
            return cast(bytes, answer.read())

    def command(self, node: str, instance: str, **command: object) -> Any:
        """Send a command and fetch its outcome."""
        body = json.dumps({"node": node, "instance": instance, **command}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.http + "/api/v1/commands", body, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def ledger(self, node: str, instance: str) -> dict[str, Any] | None:
        """Find what is known of an instance's samples."""
        known = self.get("/api/v1/ledger")["instances"]
        return next(
            (one["ledger"] for one in known if (one["node"], one["instance"]) == (node, instance)), None
        )

    def eventually(self, node: str, name: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a ledger of which something holds."""
        deadline = time.monotonic() + PATIENCE
        while True:
            ledger = self.ledger(node, name)
            if ledger is not None and holds(ledger):
                return ledger
            assert time.monotonic() < deadline, ledger
            time.sleep(0.01)

    def until_newest(self, node: str, name: str, metrics: dict[str, Any]) -> None:
        """Wait until the newest sample of an instance has these metrics."""
        known = self.get("/api/v1/instances")["instances"]
        number = next(one["id"] for one in known if (one["node"], one["instance"]) == (node, name))
        deadline = time.monotonic() + PATIENCE
        while (newest := self.get(f"/api/v1/instances/{number}")["latest"])["metrics"] != metrics:
            assert time.monotonic() < deadline, newest
            time.sleep(0.01)


def until(holds: Callable[[], bool], shown: Callable[[], object], timeout: float = PATIENCE) -> None:
    """Wait until something of another process holds. Fails with what is shown of it."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, shown()
        time.sleep(0.01)


@contextmanager
def dac(*arguments: str) -> Iterator[Dac]:
    """Run a DAC on ports of its own."""
    with _running("dac", "--channel-listen", ANY_PORT, *arguments) as running:
        yield running


@contextmanager
def tem(*arguments: str) -> Iterator[Dac]:
    """Run a TEM on a port of its own."""
    with _running("tem", *arguments) as running:
        yield running


@contextmanager
def up(*arguments: str) -> Iterator[Dac]:
    """Run a DAC and a node in one process."""
    kept = () if "--archive" in arguments else ("--no-archive",)
    with _running("up", "--channel-listen", ANY_PORT, *kept, *arguments) as running:
        yield running


@contextmanager
def _running(*verb: str) -> Iterator[Dac]:
    program = [OASIS, *verb, "--listen", ANY_PORT]
    # Accounts and audit log are not those of the developer.
    state = {**os.environ, "XDG_STATE_HOME": f"{tempfile.gettempdir()}/oasis-sdk-{os.getpid()}"}
    process = subprocess.Popen([*program, "--ready-json"], stdout=subprocess.PIPE, text=True, env=state)
    try:
        assert process.stdout is not None
        yield Dac(json.loads(process.stdout.readline()), process)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
