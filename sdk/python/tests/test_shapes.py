"""Generated classes agree with every other language on every byte of the vectors."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from cases import PROBES, Case, cases, exactly

import oasis
from oasis.eisa import Packet

CASES = list(cases())
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
both_orders = pytest.mark.parametrize("order", oasis.ByteOrder)


def test_every_probe_has_a_case() -> None:
    assert {case.sample.NAME for case in CASES} == set(PROBES)


@every_case
def test_a_row_is_written(case: Case) -> None:
    assert case.sample.to_row() == case.row


@every_case
def test_a_row_is_read(case: Case) -> None:
    assert exactly(type(case.sample).from_row(case.row)) == exactly(case.sample)


@both_orders
@every_case
def test_a_packet_is_written(case: Case, order: oasis.ByteOrder) -> None:
    packet = Packet("shapes", case.sample, 41, 1_763_683_199, 999_000, state=2)
    assert packet.encode(order) == case.packets[order]


@both_orders
@every_case
def test_a_packet_is_read(case: Case, order: oasis.ByteOrder) -> None:
    packet = Packet.decode(case.packets[order], *PROBES.values(), order=order)
    assert exactly(packet.sample) == exactly(case.sample)
    assert (packet.instance, packet.sequence, packet.state) == ("shapes", 41, 2)
    assert (packet.seconds, packet.microseconds) == (1_763_683_199, 999_000)


@every_case
def test_no_part_of_a_row_is_a_row(case: Case) -> None:
    for length in range(len(case.row)):
        with pytest.raises(oasis.DecodeError):
            type(case.sample).from_row(case.row[:length])


@both_orders
@every_case
def test_no_part_of_a_packet_is_a_packet(case: Case, order: oasis.ByteOrder) -> None:
    packet = case.packets[order]
    for length in range(len(packet)):
        with pytest.raises(oasis.DecodeError):
            Packet.decode(packet[:length], type(case.sample), order=order)


@every_case
def test_bytes_after_a_sample_are_refused(case: Case) -> None:
    with pytest.raises(oasis.DecodeError) as raised:
        type(case.sample).from_row(case.row + b"\0")
    assert (raised.value.fault, raised.value.offset) == (oasis.Fault.LEFTOVER, len(case.row))


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_random_bytes_are_read_or_refused(probe: type[oasis.Probe]) -> None:
    chance = random.Random(probe.NAME)
    for _ in range(1000):
        refused_or_the_same(probe.from_row, chance.randbytes(chance.randrange(100)))


@both_orders
@every_case
def test_damaged_bytes_are_read_or_refused(case: Case, order: oasis.ByteOrder) -> None:
    chance = random.Random(case.name)
    probe = type(case.sample)
    for _ in range(100):
        refused_or_the_same(probe.from_row, damaged(case.row, chance))
        packet = damaged(case.packets[order], chance)
        refused_or_the_same(lambda octets: Packet.decode(octets, probe, order=order).sample, packet)


def damaged(octets: bytes, chance: random.Random) -> bytes:
    copy = bytearray(octets)
    for _ in range(chance.randrange(1, 4)):
        if copy:
            copy[chance.randrange(len(copy))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    return bytes(copy)


def refused_or_the_same(read: Callable[[bytes], oasis.Probe], octets: bytes) -> None:
    """What is read is written and read again without a change, whatever was read."""
    try:
        sample = read(octets)
    except oasis.DecodeError:
        return
    assert exactly(type(sample).from_row(sample.to_row())) == exactly(sample)
