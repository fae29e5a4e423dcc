"""The node for Windows under Wine, over TCP: `test_windows.py HOST.exe`. Its connection ends once, and it goes on."""

import os
import socket
import subprocess
import sys
import tempfile
import time

from gateway import Gateway

# Wine makes its folder first, which takes long on a busy machine.
DEADLINE_S = 300


def serve(server: socket.socket, gateway: Gateway, wanted: int) -> None:
    """Accepts the node, and takes so many more samples of each probe."""
    connection, _ = server.accept()
    with connection:
        connection.settimeout(DEADLINE_S)
        before = received(gateway)
        while received(gateway) < before + wanted:
            data = connection.recv(4096)
            assert data, "the node has closed the connection"
            connection.sendall(gateway.feed(data, time.time_ns()))


def received(gateway: Gateway) -> int:
    if not gateway.sessions:
        return 0
    return min(account.received for account in gateway.sessions[-1].accounts)


def main() -> None:
    gateway = Gateway(1, 0)
    with tempfile.TemporaryDirectory() as prefix, socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(DEADLINE_S)
        environment = os.environ | {
            "WINEPREFIX": prefix,
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
        }
        command = ["/usr/lib/wine/wine64", sys.argv[1], "127.0.0.1", str(server.getsockname()[1])]
        node = subprocess.Popen(command, env=environment, start_new_session=True)
        try:
            serve(server, gateway, 3)
            serve(server, gateway, 3)
        finally:
            node.kill()
            node.wait()
            subprocess.run(["/usr/lib/wine/wineserver64", "-k", "-w"], env=environment, check=False)
    assert len(gateway.sessions) == 1, "the end of a connection is no restart"
    memory, processors = (account.samples[-1][1] for account in gateway.sessions[0].accounts)
    assert 0 < memory[1] <= 100 and 0 < memory[3] <= memory[2], f"memory: {memory}"
    assert processors[1] > 0 and processors[4] == os.cpu_count(), f"processors: {processors}"
    for account in gateway.sessions[0].accounts:
        assert account.received + sum(account.causes.values()) == account.last
    print(
        f"Windows node {gateway.announced['name']}: {memory[3] / 2**20:,.0f} MiB free, {processors[4]} processors"
    )


if __name__ == "__main__":
    main()
