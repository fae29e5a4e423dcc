"""Native batches hold the samples of generated classes, and are made of them."""

from __future__ import annotations

import pytest
from cases import Case, cases, exactly
from shapes import Enums, Nothing

from oasis import batch

NODE_TIME = 1_763_683_200_000_000_000
CASES = list(cases())
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@every_case
def test_a_batch_is_made(case: Case) -> None:
    made = bytearray(
        batch.encode(
            type(case.sample),
            [(NODE_TIME - 1_000_000, case.sample)],
            first_sequence=41,
            node_time=NODE_TIME,
            topic=3,
            state=2,
            dropped_before=5,
        )
    )
    # Bytes that the DAC stamps: offset and time.
    made[16:24], made[32:40] = case.batch[16:24], case.batch[32:40]
    assert bytes(made) == case.batch


@every_case
def test_a_batch_is_read(case: Case) -> None:
    [read] = batch.decode(type(case.sample), case.batch)
    assert (read.sequence, read.time) == (41, NODE_TIME - 1_000_000)
    assert exactly(read.sample) == exactly(case.sample)


@every_case
def test_no_part_of_a_batch_is_a_batch(case: Case) -> None:
    for length in range(len(case.batch)):
        with pytest.raises(ValueError, match=r"\w"):
            batch.decode(type(case.sample), case.batch[:length])


def test_without_samples_there_are_no_bytes() -> None:
    assert batch.encode(Nothing, [], first_sequence=1, node_time=NODE_TIME) == b""


def test_many_samples_keep_their_order() -> None:
    times = range(NODE_TIME, NODE_TIME + 1_000)
    made = batch.encode(Enums, [(time, Enums()) for time in times], first_sequence=7, node_time=NODE_TIME)
    read = batch.decode(Enums, made)
    assert [one.time for one in read] == list(times)
    assert [one.sequence for one in read] == list(range(7, 1_007))


class Hostile(Nothing):
    SCHEMA = Nothing.SCHEMA.replace(
        '"metrics":[]', '"metrics":[{"name":"void","type":{"vector":{"struct":{"name":"S","members":[]}}}}]'
    )


def test_a_schema_that_no_node_may_have_is_refused() -> None:
    made = batch.encode(Nothing, [(NODE_TIME, Nothing())], first_sequence=1, node_time=NODE_TIME)
    with pytest.raises(ValueError, match='the schema cannot be used: metric "void"'):
        batch.decode(Hostile, made)
