"""A simulated device on a noisy line: bit flips, lost and invented bytes, resets and brown-outs. Each sample arrives, or
its loss is declared. Repeat one seed: `python3 sdk/embedded/tests/test_noise.py DEVICE 17`."""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from gateway import Account, Gateway, Session

STEP_MS = 10
# A minute of the device: an announcement comes each second.
MAX_QUIET_STEPS = 6_000
DISABLE = 3
EPOCH_NS = 1_763_683_200_000_000_000


class Device:
    """The process of tests/device.c."""

    def __init__(self, program: str, *arguments: int | str) -> None:
        command = [program, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send_command(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def run(self, milliseconds: int, data: bytes) -> bytes:
        self.send_command(f"run {milliseconds} {data.hex()}")
        return bytes.fromhex(self.process.stdout.readline())

    def taken(self) -> list[int]:
        self.send_command("taken")
        return [int(count) for count in self.process.stdout.readline().split()]

    def end(self) -> None:
        self.process.stdin.close()
        assert self.process.wait() == 0, "the device reports an error above"


class Noise:
    """Damages bytes, at a rate and sometimes in bursts."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rate = 10 ** random.uniform(-4, -2.2)
        self.damaged = 0

    def pass_through(self, data: bytes) -> bytes:
        out = bytearray()
        at = 0
        while at < len(data):
            # Bytes until the next one that is damaged.
            untouched = int(self.random.expovariate(self.rate))
            out += data[at : at + untouched]
            at += untouched
            if at < len(data):
                at += self.damage(data[at], out)
        return bytes(out)

    def damage(self, byte: int, out: bytearray) -> int:
        self.damaged += 1
        kind = self.random.randrange(4)
        if kind == 0:
            out.append(byte ^ 1 << self.random.randrange(8))
        elif kind == 1:
            out += bytes([byte, self.random.randrange(256)])
        elif kind == 2:
            out += self.random.randbytes(self.random.randrange(1, 40))
        return 1


@dataclass
class Chain:
    """Sessions since memory was last invalid, and how many samples the device had counted when it became so again."""

    sessions: list[Session]
    taken: list[int]
    is_complete: bool
    before: list[int] = field(default_factory=list)


def check(chain: Chain, seed: int) -> None:
    base = [0, 0, 0]
    for index, session in enumerate(chain.sessions):
        if session.origin[0] == 0:
            # Samples of starts that were never accepted.
            base = session.ended_before
        for at, account in enumerate(session.accounts):
            declared = sum(account.causes.values())
            assert account.received + declared == account.last, (
                f"seed {seed}: an account that does not add up"
            )
            check_samples(account, at, base[at], seed)
        is_last = index + 1 == len(chain.sessions)
        assert is_last or session.is_end_known, f"seed {seed}: a reset that lost its count"
        base = [b + account.last for b, account in zip(base, session.accounts, strict=True)]
    for at, taken in enumerate(chain.taken):
        if chain.is_complete:
            assert base[at] == taken, f"seed {seed}: instance {at} took {taken}, {base[at]} are accounted for"
        else:
            # Samples after the last number that the gateway has heard of are declared as unknown.
            assert base[at] <= taken, f"seed {seed}: declared samples that were never taken"


def check_samples(account: Account, at: int, base: int, seed: int) -> None:
    numbers = [sequence for sequence, _ in account.samples]
    assert numbers == sorted(set(numbers)), f"seed {seed}: duplicates"
    before = 0
    for sequence, (time, *values) in account.samples:
        # Metric 0 of the motor is its number in 16 bits; pulses and wear are numbers 1 and 2 of the others.
        own = values[at] if at else values[0] & 0xFFFF
        expected = base + sequence if at else (base + sequence) & 0xFFFF
        assert own == expected, (
            f"seed {seed}: instance {at}, number {sequence}: the sample of {own}, not of {expected}"
        )
        # The gateway of this test reads its clock once a step, so that exchanges differ by as much.
        assert time > before - STEP_MS * 1_000_000, f"seed {seed}: time steps back"
        before = time


def play(program: str, seed: int) -> dict[str, int]:
    random = Random(seed)
    device = Device(program, 115200, 4, seed)
    gateway = Gateway(seed, EPOCH_NS)
    noise = Noise(random)
    chains: list[Chain] = []
    first = 0
    answer = b""
    milliseconds = 0
    totals = {"resets": 0, "brown-outs": 0}
    noisy_ms = random.randrange(3000, 8000)
    while milliseconds < noisy_ms:
        sent = noise.pass_through(device.run(STEP_MS, noise.pass_through(answer)))
        milliseconds += STEP_MS
        answer = gateway.feed(sent, milliseconds * 1_000_000)
        event = random.randrange(250)
        if event == 0:
            device.send_command(random.choice(["reset", "torn"]))
            totals["resets"] += 1
        elif event == 1:
            taken = device.taken()
            device.send_command("brown-out")
            totals["brown-outs"] += 1
            # The gateway learns of it by the next announcement; the sessions until then belong to this life of the memory.
            for _ in range(MAX_QUIET_STEPS):
                before = len(gateway.sessions)
                answer = gateway.feed(device.run(STEP_MS, answer), milliseconds * 1_000_000)
                milliseconds += STEP_MS
                if len(gateway.sessions) > before:
                    break
            else:
                raise AssertionError(f"seed {seed}: the gateway does not accept the device after a brown-out")
            chains.append(Chain(gateway.sessions[first:-1], taken, is_complete=False))
            first = len(gateway.sessions) - 1
    answer = quiet(device, gateway, answer, milliseconds)
    chains.append(Chain(gateway.sessions[first:], device.taken(), is_complete=True))
    device.end()
    for chain in chains:
        check(chain, seed)
    accounts = [account for session in gateway.sessions for account in session.accounts]
    totals |= {"sessions": len(gateway.sessions), "received": sum(account.received for account in accounts)}
    totals |= {"damaged frames": gateway.receiver.damaged, "damaged bytes": noise.damaged}
    for account in accounts:
        for cause, count in account.causes.items():
            totals[cause] = totals.get(cause, 0) + count
    return totals


def quiet(device: Device, gateway: Gateway, answer: bytes, milliseconds: int) -> bytes:
    """Lets the device come to rest: without noise, and with its probes disabled by commands."""
    ids = 0
    for step in range(900):
        if step >= 600 and step % 60 == 0 and ids < 3:
            answer += gateway.command(ids + 1000, ids, DISABLE)
            ids += 1
        sent = device.run(STEP_MS, answer)
        milliseconds += STEP_MS
        answer = gateway.feed(sent, milliseconds * 1_000_000)
    for id_ in (1000, 1001, 1002):
        assert gateway.results.get(id_, (9,))[:2] == (0, False), f"command {id_}: {gateway.results}"
    return answer


def main() -> None:
    program, *seeds = sys.argv[1:]
    first, end = (int(seeds[0]), int(seeds[0]) + 1) if seeds else (0, int(os.environ.get("NOISE_SEEDS", "20")))
    sums: Counter[str] = Counter()
    # The devices are processes: while one of them is waited for, others work.
    with ThreadPoolExecutor(max_workers=4) as pool:
        for totals in pool.map(lambda seed: play(program, seed), range(first, end)):
            sums.update(totals)
    print(
        f"{end - first} seeds, no undeclared loss:",
        ", ".join(f"{count:,} {name}" for name, count in sums.items()),
    )


if __name__ == "__main__":
    main()
