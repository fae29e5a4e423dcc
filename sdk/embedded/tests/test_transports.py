"""The pump as a process over UDP and TCP. It is killed, and what it took and did not send is declared.

`test_transports.py PUMP`
"""

import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gateway import Gateway

DEADLINE_S = 60


class Udp:
    """A gateway's port for datagrams."""

    def __init__(self) -> None:
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(1)
        self.port = self.socket.getsockname()[1]

    def turn(self, gateway: Gateway) -> None:
        try:
            data, device = self.socket.recvfrom(2048)
        except TimeoutError:
            return
        assert len(data) <= 1472 and data.endswith(b"\0"), "a datagram of other than whole frames"
        if answer := gateway.feed(data, time.time_ns()):
            self.socket.sendto(answer, device)


class Tcp:
    """A gateway's port for connections."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(DEADLINE_S)
        self.port = self.server.getsockname()[1]
        self.connection: socket.socket | None = None

    def turn(self, gateway: Gateway) -> None:
        if not self.connection:
            self.connection, _ = self.server.accept()
            self.connection.settimeout(DEADLINE_S)
        try:
            data = self.connection.recv(4096)
            if data:
                self.connection.sendall(gateway.feed(data, time.time_ns()))
                return
        except ConnectionError:
            pass
        self.connection.close()
        self.connection = None


def taken(kept: str) -> int:
    """Samples of the motor over all starts: `counts[0].low` of `oasis_kept`."""
    return struct.unpack_from("<I", Path(kept).read_bytes(), 16 + 8 * 8 + 4)[0]


def until(transport: Udp | Tcp, gateway: Gateway, is_done: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + DEADLINE_S
    while not is_done():
        assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what}"
        transport.turn(gateway)


def play(program: str, name: str, transport: Udp | Tcp) -> None:
    gateway = Gateway(1, 0)
    counts: list[int] = []
    with tempfile.NamedTemporaryFile() as kept:
        command = [program, kept.name, name, "127.0.0.1", str(transport.port)]
        for sessions in (1, 2):
            device = subprocess.Popen(command)
            try:
                until(transport, gateway, lambda: len(gateway.sessions) == sessions, f"session {sessions}")
                account = gateway.sessions[-1].accounts[0]
                until(transport, gateway, lambda: account.received > 1000, "1,000 samples")
                while taken(kept.name) < account.last + 20:
                    time.sleep(0.001)
            finally:
                device.kill()
                device.wait()
            counts.append(taken(kept.name))
    first, second = gateway.sessions
    assert first.is_end_known, "a restart that lost its count"
    assert gateway.announced["starts"] == 2
    assert first.accounts[0].last == counts[0], "samples that the first start took and nobody declared"
    for account in first.accounts + second.accounts:
        assert account.received + sum(account.causes.values()) == account.last
    lost = first.accounts[0].causes["node_restart"]
    print(
        f"{name}: {first.accounts[0].received + second.accounts[0].received:,} samples, {lost} lost by a restart"
    )


def main() -> None:
    play(sys.argv[1], "udp", Udp())
    play(sys.argv[1], "tcp", Tcp())


if __name__ == "__main__":
    main()
