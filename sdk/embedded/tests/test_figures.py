"""Measures what docs/sdk/embedded.md says: bytes on a Cortex-M3, instructions of a flush, samples over 115,200 baud.

`test_figures.py MAIN.elf MEASURE.elf DEVICE`; the map of the linker lies beside MAIN.elf.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from gateway import Gateway
from test_noise import EPOCH_NS, STEP_MS, Device

LIBRARY = ["batch.o", "frame.o", "kept.o", "node.o", "ring.o", "libgcc.a"]
CODE_BYTES, RAM_BYTES, INSTRUCTIONS, SAMPLES_A_SECOND = 8192, 2048, 400, 1500
# Buffers for frames within `oasis_node`: OASIS_STUFFED_BYTES and OASIS_RECEIVED_BYTES.
FRAME_BUFFERS = 1024 + 1024 // 254 + 4 + 68


def code_bytes(map_file: Path) -> Counter[str]:
    """Bytes in flash by object."""
    # The linker continues a long name on the next line.
    text = re.sub(r"^( \.\S+)\n +", r"\1 ", map_file.read_text(), flags=re.MULTILINE)
    section = r"^ \.(?:text|rodata)\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(\S+)$"
    sizes: Counter[str] = Counter()
    for size, path in re.findall(section, text.split("Linker script and memory map")[1], re.MULTILINE):
        sizes[re.sub(r".*/|\(.*", "", path)] += int(size, 16)
    return sizes


def symbol_bytes(program: str) -> dict[str, int]:
    listed = subprocess.check_output(["arm-none-eabi-nm", "-S", program], text=True)
    return {row[3]: int(row[1], 16) for row in map(str.split, listed.splitlines()) if len(row) == 4}


def instructions_of(program: str) -> list[int]:
    """Of a flush, and a sample of encoding a batch."""
    command = [
        "qemu-system-arm",
        "-M",
        "mps2-an385",
        "-display",
        "none",
        "-monitor",
        "none",
        "-serial",
        "stdio",
    ]
    command += ["-semihosting", "-icount", "shift=0", "-kernel", program]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return [int(number) for number in done.stdout.split()]


def samples_a_second(program: str) -> float:
    """Samples of three random int16 that a line of 115,200 baud carries in 10 s."""
    device = Device(program, 115200, 8, 1, "random")
    gateway = Gateway(1, EPOCH_NS)
    answer = b""
    for step in range(1200):
        answer = gateway.feed(device.run(STEP_MS, answer), step * STEP_MS * 1_000_000)
        if step == 199:
            before = gateway.sessions[0].accounts[0].received
    device.end()
    return (gateway.sessions[0].accounts[0].received - before) / 10


def main() -> None:
    main_elf, measure_elf, device = sys.argv[1:]
    sizes = code_bytes(Path(main_elf).with_suffix(".map"))
    code = sum(sizes[name] for name in LIBRARY)
    symbols = symbol_bytes(main_elf)
    ram = symbols["node"] - FRAME_BUFFERS + symbols["probes"] + symbols["kept"]
    flush, encoding = instructions_of(measure_elf)
    rate = samples_a_second(device)
    parts = ", ".join(f"{name} {sizes[name]}" for name in LIBRARY)
    print(f"code: {code} bytes ({parts}); RAM besides buffers: {ram} bytes")
    print(
        f"a flush of three int16: {flush} instructions, encoding it: {encoding}; 115,200 baud: {rate:.0f} samples/s"
    )
    assert code <= CODE_BYTES and ram <= RAM_BYTES, "too large"
    assert flush <= INSTRUCTIONS and rate >= SAMPLES_A_SECOND, "too slow"


if __name__ == "__main__":
    main()
