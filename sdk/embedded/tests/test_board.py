"""Bare metal on QEMU's Cortex-M3, `oasis node --serial` as its gateway, and a DAC: samples, a command and a reset.

`test_board.py OASIS MAIN.elf`
"""

import json
import os
import subprocess
import sys
import tempfile

from test_product import Api, until
from test_qemu import Machine

INSTANCES = ("motor", "tank", "bearings")


def play(api: Api, machine: Machine) -> None:
    def motor() -> dict:
        return api.ledgers("pump 7").get("motor", {"received": 0})

    until(lambda: motor()["received"] > 1000, lambda: "1,000 samples of the motor")
    command = {"node": "pump 7", "instance": "bearings", "command": "hertz", "hertz": 50}
    assert api.request("commands", command)["hertz"] == 50
    before = motor()["received"]
    machine.monitor("system_reset")
    until(lambda: motor()["causes"].get("node_restart", 0) > 0, lambda: f"a declared restart: {motor()}")
    until(lambda: motor()["received"] > before + 1000, lambda: f"samples after the reset: {motor()}")
    for instance in INSTANCES:
        assert not api.request("commands", {"node": "pump 7", "instance": instance, "command": "disable"})["enabled"]

    def rests() -> list[int]:
        return [of["node"]["taken"] - of["last_sequence"] for of in api.ledgers("pump 7").values()]

    until(lambda: rests() == [0, 0, 0], lambda: f"the last samples: {rests()}")
    for ledger in api.ledgers("pump 7").values():
        assert ledger["unexplained"] == 0, ledger
    print(f"from bare metal to a DAC: {motor()['received']:,} samples of the motor, missing: {motor()['causes']}")


def main() -> None:
    oasis, program = sys.argv[1:]
    machine = Machine(program)
    # The gateway reads the port alone.
    os.close(machine.line)
    machine.line = os.open(os.devnull, os.O_RDONLY)
    processes: list[subprocess.Popen] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            command = [oasis, "dac", "--ready-json", "--listen", "127.0.0.1:0", "--channel-listen", "127.0.0.1:0"]
            command += ["--access", f"{folder}/access"]
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            ready = json.loads(processes[0].stdout.readline())
            command = [oasis, "node", "--name", "gateway", "--dac", ready["channel"], "--serial", machine.port]
            processes.append(subprocess.Popen([*command, "--state", f"{folder}/state"]))
            play(Api(ready["http"].removeprefix("http://")), machine)
        finally:
            machine.end()
            for process in processes:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
