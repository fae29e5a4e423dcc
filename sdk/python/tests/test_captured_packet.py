"""The packet that was captured for the thesis, garbage in its padding included."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

import oasis
from oasis.eisa import Packet, register

VECTORS = Path(__file__).parents[3] / "vectors"
CAPTURED = bytes.fromhex(json.loads((VECTORS / "eisa.json").read_text())["captured"])


@dataclass(slots=True)
class Processor(oasis.Probe):
    """Written by hand, as the captured packet's PDL is lost."""

    NAME = "ProcessorProbe"
    UUID = UUID("b049990b-17aa-4ca2-8806-e89329963788")
    VERSION = "1.0"
    SCHEMA = "{}"

    counters: list[int]

    def write(self, to: oasis.Writer) -> None:
        """Write seven counters."""
        for counter in self.counters:
            to.uint64(counter, "ProcessorProbe.counters")

    @classmethod
    def read(cls, source: oasis.Reader) -> Processor:
        """Read seven counters."""
        return cls([source.uint64() for _ in range(7)])


def test_it_is_read() -> None:
    packet = Packet.decode(CAPTURED, Processor)
    assert packet.instance == "ProcessorProbe_SmokeTest"
    assert (packet.version, packet.sequence, packet.state) == ((1, 1), 1, 0)
    assert (packet.seconds, packet.microseconds) == (22873, 209292)
    assert packet.sample.counters[:2] == [8011350, 69249]


def test_what_is_read_is_written_again_but_for_garbage_in_padding() -> None:
    cleaned = bytearray(CAPTURED)
    for padding in (slice(6, 8), slice(38, 40), slice(73, 80)):
        cleaned[padding] = bytes(len(cleaned[padding]))
    assert Packet.decode(CAPTURED, Processor).encode() == cleaned


def test_no_part_of_it_is_a_packet() -> None:
    for length in range(len(CAPTURED)):
        with pytest.raises(oasis.DecodeError):
            Packet.decode(CAPTURED[:length], Processor)


@pytest.mark.parametrize(
    ("at", "octet", "fault"),
    [
        (0, 0, oasis.Fault.MAGIC),
        (4, 2, oasis.Fault.VERSION),
        (5, 2, oasis.Fault.VERSION),
        (8, 0, oasis.Fault.PROBE),
        (40, 57, oasis.Fault.TRUNCATED),
        (40, 55, oasis.Fault.LEFTOVER),
        (48, 0xFF, oasis.Fault.TEXT),
        (72, 1, oasis.Fault.TERMINATOR),
    ],
)
def test_a_wrong_octet_is_reported(at: int, octet: int, fault: oasis.Fault) -> None:
    packet = bytearray(CAPTURED)
    packet[at] = octet
    with pytest.raises(oasis.DecodeError) as raised:
        Packet.decode(packet, Processor)
    assert raised.value.fault is fault


def test_a_command_has_256_octets() -> None:
    command = register("my-node", "processor")
    assert len(command) == 256
    assert command[:24] == b"\x01\0\0\0\x08\0\0\0my-node\0\x0a\0\0\0proc"
    with pytest.raises(oasis.EncodeError):
        register("n" * 128, "i" * 128)
