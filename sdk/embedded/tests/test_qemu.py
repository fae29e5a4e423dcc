"""Bare metal on QEMU's Cortex-M3, its UART on a pseudo-terminal: 1,000 samples a second, commands, resets, power off,
noise. `python3 sdk/embedded/tests/test_qemu.py main.elf`."""

import os
import select
import subprocess
import sys
import time
import tty
from collections.abc import Callable
from itertools import pairwise
from random import Random
from statistics import median

from gateway import Gateway
from test_noise import Noise

MOTOR, TANK, BEARINGS = range(3)
HERTZ, DISABLE, SAMPLE_NOW = 1, 3, 4
# A machine under load may take long; a correct run waits for no deadline.
DEADLINE_S = 60


class Machine:
    """QEMU with the program: its monitor on standard input, its UART on a pseudo-terminal."""

    def __init__(self, program: str) -> None:
        command = [
            "qemu-system-arm",
            "-M",
            "mps2-an385",
            "-display",
            "none",
            "-monitor",
            "stdio",
            "-serial",
            "pty",
        ]
        command += ["-kernel", program]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = ""
        while "redirected to" not in line:
            line = self.process.stdout.readline()
            assert line, "QEMU ended"
        self.port = line.split("redirected to ")[1].split()[0]
        self.line = os.open(self.port, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.line)

    def monitor(self, command: str) -> None:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        os.close(self.line)
        self.process.kill()
        self.process.wait()


class Line:
    """A gateway at the other end of a device's line, which may be noisy."""

    def __init__(self, seed: int) -> None:
        self.gateway = Gateway(seed, 0)
        self.noise = Noise(Random(seed))
        self.is_noisy = False

    def turn(self, machine: Machine) -> None:
        if not select.select([machine.line], [], [], 0.05)[0]:
            return
        data = os.read(machine.line, 4096)
        answer = self.gateway.feed(self.noise.pass_through(data) if self.is_noisy else data, time.time_ns())
        if answer:
            os.write(machine.line, answer)

    def until(self, machine: Machine, is_done: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + DEADLINE_S
        while not is_done():
            assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what}"
            self.turn(machine)

    def received(self, at: int = MOTOR) -> int:
        return sum(session.accounts[at].received for session in self.gateway.sessions)

    def command(self, machine: Machine, id_: int, instance: int, command: int, argument: int = 0) -> tuple:
        os.write(machine.line, self.gateway.command(id_, instance, command, argument))
        self.until(machine, lambda: id_ in self.gateway.results, f"the result of command {id_}")
        return self.gateway.results[id_]


def check_values(line: Line) -> None:
    """The third metric of the motor counts flushes of a start."""
    for session in line.gateway.sessions:
        samples = session.accounts[MOTOR].samples
        assert len({(values[3] - sequence) & 0x7FFF for sequence, values in samples}) <= 1, (
            "samples under wrong numbers"
        )
        for account in session.accounts:
            assert account.received + sum(account.causes.values()) == account.last, (
                "an account that does not add up"
            )


def main() -> None:
    machines: list[Machine] = []
    try:
        play(sys.argv[1], machines)
    finally:
        for machine in machines:
            machine.end()


def play(program: str, machines: list[Machine]) -> None:
    def power_on() -> Machine:
        machines.append(Machine(program))
        return machines[-1]

    line = Line(seed=7)
    gateway = line.gateway
    machine = power_on()

    line.until(machine, lambda: line.received() > 1000, "1,000 samples of the motor")
    session = gateway.sessions[0]
    assert sum(session.accounts[MOTOR].causes.values()) <= 256, (
        f"losses without noise: {session.accounts[MOTOR].causes}"
    )
    times = [values[0] for _, values in session.accounts[MOTOR].samples[-500:]]
    step = median(after - before for before, after in pairwise(times))
    assert 0.99e6 < step < 1.01e6, f"{step} ns between two samples"
    assert abs(times[-1] - time.time_ns()) < 10e9, "times are not of the gateway's clock"

    assert line.command(machine, 1, BEARINGS, HERTZ, 50_000) == (0, True, 50_000)
    assert line.command(machine, 2, BEARINGS, HERTZ, 0)[0] == 3
    assert line.command(machine, 3, 9, HERTZ, 1000)[0] == 1
    assert line.command(machine, 4, MOTOR, SAMPLE_NOW)[0] == 2
    assert line.command(machine, 5, TANK, SAMPLE_NOW)[0] == 0

    for _ in range(2):
        before = len(gateway.sessions)
        machine.monitor("system_reset")
        line.until(machine, lambda: len(gateway.sessions) > before, "a session after the reset")
        assert gateway.sessions[-2].is_end_known, "a reset that lost its count"
        wanted = line.received() + 500
        line.until(machine, lambda: line.received() > wanted, "samples after the reset")
    restarts = sum(session.accounts[MOTOR].causes["node_restart"] for session in gateway.sessions)

    line.is_noisy = True
    line.noise.rate = 2e-3
    wanted = line.received() + 2000
    line.until(machine, lambda: line.received() > wanted, "samples over a noisy line")
    line.is_noisy = False

    machines.pop().end()
    before = len(gateway.sessions)
    machine = power_on()
    line.until(machine, lambda: len(gateway.sessions) > before, "a session after power was off")
    assert not gateway.sessions[-2].is_end_known, "memory survived power off"
    for instance in (MOTOR, TANK, BEARINGS):
        assert line.command(machine, 100 + instance, instance, DISABLE)[:2] == (0, False)
    accounts = gateway.sessions[-1].accounts
    line.until(
        machine, lambda: all(0 < account.taken == account.last for account in accounts), "the last counters"
    )
    check_values(line)
    losses = {
        cause: sum(s.accounts[MOTOR].causes[cause] for s in gateway.sessions)
        for cause in ("network", "ring_full")
    }
    print(
        f"{line.received():,} samples of {1e9 / step:.0f} Hz from bare metal in {len(gateway.sessions)} sessions;",
        end=" ",
    )
    print(f"declared: {restarts} node_restart, {losses['network']} network, {losses['ring_full']} ring_full")


if __name__ == "__main__":
    main()
