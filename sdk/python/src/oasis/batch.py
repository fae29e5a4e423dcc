"""Native batches (docs/reference/native-batch.md): what nodes send, archives keep and the WebSocket door pushes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from oasis import _native
from oasis.probe import Probe

Sample = TypeVar("Sample", bound=Probe)


@dataclass(frozen=True, slots=True)
class Numbered(Generic[Sample]):
    """A sample of a batch."""

    sequence: int
    """Its number in the life of its probe instance, from 1; a hole in the numbers is a loss."""
    time: int
    """Nanoseconds since 1970-01-01 UTC by the node's clock."""
    sample: Sample


def decode(probe: type[Sample], batch: bytes) -> list[Numbered[Sample]]:
    """Read a batch of this probe type. Raises ValueError for bytes that are none."""
    return [
        Numbered(sequence, time, probe.from_row(row))
        for sequence, time, row in _native.decode_batch(probe.SCHEMA, batch)
    ]


def encode(
    probe: type[Sample],
    samples: Iterable[tuple[int, Sample]],
    *,
    first_sequence: int,
    node_time: int,
    topic: int = 0,
    state: int = 0,
    dropped_before: int = 0,
) -> bytes:
    """Make a batch of samples, each with its time; without samples there are no bytes.

    Raises EncodeError for a value that its metric cannot hold, ValueError for more than 65,535 samples.
    """
    return _native.encode_batch(
        probe.SCHEMA,
        [(time, sample.to_row()) for time, sample in samples],
        topic=topic,
        state=state,
        first_sequence=first_sequence,
        node_time=node_time,
        dropped_before=dropped_before,
    )
