"""Native batches (docs/reference/native-batch.md): what nodes send, archives keep and the WebSocket door pushes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from oasis import _native
from oasis.probe import Probe

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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


class Arrays(NamedTuple):
    """A batch as arrays of one length."""

    sequence: npt.NDArray[np.uint64]
    """Numbers of the samples in the life of their probe instance."""
    time: npt.NDArray[np.uint64]
    """Nanoseconds since 1970-01-01 UTC by the node's clock."""
    samples: npt.NDArray[np.void]
    """A structured array with a field for each metric: `samples["speed"]` is a column."""


def decode_arrays(probe: type[Probe], batch: bytes, *, metrics: tuple[str, ...] | None = None) -> Arrays:
    """Read a batch as numpy arrays, without an object for each value; all metrics or these.

    Raises TypeError for a metric without a fixed size (a string, a vector), ValueError for a metric that the probe does
    not have and for bytes that are no batch of it.
    """
    import numpy as np

    from oasis import arrays

    dtype = arrays.dtype(probe, metrics)
    count, *parts = _native.decode_rows(probe.SCHEMA, batch, arrays.metric_numbers(probe, metrics))
    sequence, time = (np.frombuffer(part, np.dtype("<u8")) for part in parts[:2])
    # Samples without metrics have no bytes to make an array of.
    samples = np.frombuffer(parts[2], dtype) if dtype.itemsize else np.empty(count, dtype)
    return Arrays(sequence, time, samples)


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
