"""Pumps behind noisy lines, `oasis node` as their gateway, and a DAC: what its ledger has is what the pumps took.

Each seed is a pump that is killed and started again while its line is noisy. `test_product.py OASIS PUMP [SEEDS]`
"""

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from test_noise import Noise

AT_ONCE = 10
HERTZ = 200
DEADLINE_S = 120


class Proxy:
    """A line between a pump and its gateway, noisy until `is_noisy` is false."""

    def __init__(self, gateway: int, seed: int) -> None:
        self.gateway = gateway
        self.noise = Noise(Random(seed))
        self.is_noisy = True
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            pump, _ = self.server.accept()
            gateway = socket.create_connection(("127.0.0.1", self.gateway))
            for ends in ((pump, gateway), (gateway, pump)):
                threading.Thread(target=self.carry, args=ends, daemon=True).start()

    def carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(4096):
                sink.sendall(self.noise.pass_through(data) if self.is_noisy else data)
        except OSError:
            pass
        for end in (source, sink):
            end.close()


class Pump:
    """The process, and the file that stands for its memory."""

    def __init__(self, program: str, folder: str, seed: int, port: int) -> None:
        self.name = f"pump {seed}"
        self.kept = Path(folder, self.name)
        self.command = [program, str(self.kept), "tcp", "127.0.0.1", str(port)]
        self.process: subprocess.Popen | None = None
        self.is_known = True

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command, env=os.environ | {"PUMP_NAME": self.name, "PUMP_HERTZ": str(HERTZ)}
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def forget(self) -> None:
        """Power was off."""
        self.kept.write_bytes(os.urandom(len(self.kept.read_bytes())))
        self.is_known = False

    def taken(self) -> list[int]:
        """`counts[].low` of `oasis_kept`."""
        kept = self.kept.read_bytes()
        return [struct.unpack_from("<I", kept, 16 + 8 * 8 + 4 + 12 * at)[0] for at in range(2)]


class Api:
    """The DAC's."""

    def __init__(self, address: str) -> None:
        self.address = address

    def request(self, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"http://{self.address}/api/v1/{path}", data, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def ledgers(self, node: str) -> dict[str, dict]:
        listed = self.request(f"ledger?node={urllib.request.quote(node)}")["instances"]
        return {of["instance"]: of["ledger"] for of in listed}


def until(is_done: Callable[[], bool], what: Callable[[], str]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not is_done():
        assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what()}"
        time.sleep(0.2)


def disable(api: Api, pump: Pump, instance: str) -> None:
    def is_disabled() -> bool:
        try:
            return (
                api.request("commands", {"node": pump.name, "instance": instance, "command": "disable"})["status"]
                == "done"
            )
        except OSError:
            return False

    until(is_disabled, lambda: f"{pump.name}/{instance} is disabled")


def is_settled(api: Api, pump: Pump) -> bool:
    """Whether the DAC has what the pump took: the pump says how much, unless it has forgotten."""
    ledgers = api.ledgers(pump.name)
    if len(ledgers) < 2:
        return False
    taken = pump.taken()
    if pump.is_known:
        return taken == [accounted(ledgers[instance]) for instance in ("motor", "tank")]
    rests = (ledger["node"]["taken"] - ledger["last_sequence"] for ledger in ledgers.values())
    return all(rest == 0 for rest in rests) and all(taken)


def accounted(ledger: dict) -> int:
    return ledger["received"] + ledger["missing"]


def play(api: Api, pump: Pump, proxy: Proxy, seed: int, sums: Counter) -> None:
    random = Random(seed)
    pump.start()
    for _ in range(random.randrange(1, 4)):
        time.sleep(random.uniform(1, 4))
        pump.kill()
        if random.randrange(4) == 0:
            pump.forget()
        pump.start()
    time.sleep(2)
    proxy.is_noisy = False
    for instance in ("motor", "tank"):
        disable(api, pump, instance)
    until(lambda: is_settled(api, pump), lambda: f"{pump.taken()} of {pump.name}: {api.ledgers(pump.name)}")
    for instance, ledger in api.ledgers(pump.name).items():
        assert ledger["unexplained"] == 0, f"{pump.name}/{instance}: {ledger}"
        sums.update({"received": ledger["received"], **ledger["causes"]})
    sums["unknown restarts"] += not pump.is_known
    sums["damaged bytes"] += proxy.noise.damaged
    pump.kill()


def main() -> None:
    oasis, program, *rest = sys.argv[1:]
    seeds = range(int(rest[0]) if rest else 20)
    sums: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        pumps = []
        try:
            command = [
                oasis,
                "dac",
                "--ready-json",
                "--listen",
                "127.0.0.1:0",
                "--channel-listen",
                "127.0.0.1:0",
            ]
            dac = subprocess.Popen(
                [*command, "--access", f"{folder}/access"], stdout=subprocess.PIPE, text=True
            )
            processes.append(dac)
            ready = json.loads(dac.stdout.readline())
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            command = [
                oasis,
                "node",
                "--name",
                "gateway",
                "--dac",
                ready["channel"],
                "--device",
                f"tcp:127.0.0.1:{port}",
            ]
            gateway = subprocess.Popen(
                [*command, "--state", f"{folder}/state", "--ready-json"], stdout=subprocess.PIPE, text=True
            )
            processes.append(gateway)
            assert gateway.stdout.readline(), "the gateway has ended"
            api = Api(ready["http"].removeprefix("http://"))
            failures: list[BaseException] = []

            def one(seed: int) -> None:
                proxy = Proxy(port, seed)
                pump = Pump(program, folder, seed, proxy.port)
                pumps.append(pump)
                try:
                    play(api, pump, proxy, seed, sums)
                except BaseException as failure:
                    failures.append(failure)

            for first in range(0, len(seeds), AT_ONCE):
                threads = [
                    threading.Thread(target=one, args=(seed,)) for seed in seeds[first : first + AT_ONCE]
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert not failures, failures
        finally:
            for process in [*processes, *(pump.process for pump in pumps if pump.process)]:
                process.kill()
                process.wait()
    print(
        f"{len(seeds)} pumps at a DAC, no undeclared loss:",
        ", ".join(f"{count:,} {name}" for name, count in sums.items()),
    )


if __name__ == "__main__":
    main()
