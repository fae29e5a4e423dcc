"""Live samples in batches of numpy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis.door import URL, Door, Time, moment, split

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oasis.table import Column


@dataclass(frozen=True, slots=True)
class Gap:
    """Missing samples."""

    node: str
    """Name of the node."""
    instance: str
    """Name of the instance."""
    count: int | None
    """Number of samples; None if unknown, as after a restart of a DAC without an archive."""
    cause: str
    """A word of docs/reference/loss.md, or `before_the_dac`: they never reached the DAC, which reports no cause."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of one instance, as arrays of one length."""

    node: str
    """Name of the node."""
    instance: str
    """Name of the instance."""
    sequence: npt.NDArray[np.uint64]
    """Sequence numbers of the samples, counted from 1 in each run of the node."""
    time: npt.NDArray[np.datetime64]
    """Times of the samples, UTC, in nanoseconds, by the node's clock."""
    state: npt.NDArray[np.uint16]
    """State of the probe; 0 is normal."""
    columns: Mapping[str, npt.NDArray[Any]]
    """An array for each metric and each member of a struct: `batch.columns["idle_time"]`, `batch.columns["at.x"]`."""
    gaps: tuple[Gap, ...]
    """Gaps between the previous batch, of any instance, and this one."""

    def __len__(self) -> int:
        """Count the samples."""
        return len(self.sequence)


def live(
    *instances: str,
    url: str = URL,
    since: Time = "now",
    delivery: str = "every",
    patience: float = 30.0,
) -> Iterator[Batch]:
    """Iterate over the samples of `NODE/INSTANCE`s as they arrive, without end.

    If `since` is in the past, stored samples come first, then live ones, each sample once. `delivery` is `every`, `latest`,
    `max_hz=N` or `envelope=N`. If the connection breaks, the iterator reconnects for `patience` seconds and continues after the last sample.

    Raises DacError if the DAC refuses the request, and OSError if it cannot be reached any more.
    """
    targets = [split(instance) for instance in instances]
    if not targets:
        raise ValueError("name at least one instance: oasis.live('my-host/processor')")
    messages = Door(url).lines_again(targets, patience, **{"from": moment(since), "delivery": delivery})
    return batches(Door(url), messages, envelope=delivery.startswith("envelope"))


def batches(door: Door, messages: Iterable[dict[str, Any]], *, envelope: bool = False) -> Iterator[Batch]:
    """Make batches of messages."""
    readers: dict[tuple[str, str], _Reader] = {}
    gaps: list[Gap] = []
    for message in messages:
        if message["event"] not in ("samples", "gap", "type_changed"):
            continue
        key = (message["node"], message["instance"])
        if message["event"] == "type_changed":
            readers.pop(key, None)
            continue
        reader = readers.get(key)
        if reader is None:
            reader = readers[key] = _Reader(*key, door.schema(*key))
        if message["event"] == "gap":
            gaps.append(reader.gap(message))
            continue
        if not envelope:
            gaps.extend(reader.lost_before(message))
        yield reader.batch(message["samples"], tuple(gaps))
        gaps.clear()
    if gaps:
        # A gap at the very end has no samples after it.
        key = (gaps[-1].node, gaps[-1].instance)
        reader = readers.get(key) or _Reader(*key, door.schema(*key))
        yield reader.batch([], tuple(gaps))


def other_type(node: str, instance: str) -> TypeError:
    """Return the error for recorded samples whose probe type differs from the present one."""
    return TypeError(
        f"{node}/{instance} had another probe type at that time: request the time since the type changed"
    )


def reported(message: Mapping[str, Any], expected: int, first: int) -> dict[str, int]:
    """Return the causes that the DAC reports for samples from `expected` to before `first`, with their counts."""
    counts: dict[str, int] = {}
    for gap in message.get("gaps_before", ()):
        if expected <= gap["from_sequence"] and gap["to_sequence"] < first:
            counts[gap["cause"]] = counts.get(gap["cause"], 0) + gap["count"]
    return counts


class _Reader:
    def __init__(self, node: str, instance: str, schema: Mapping[str, Any]) -> None:
        from oasis.table import columns

        self._node = node
        self._instance = instance
        self._columns: list[Column] = columns(schema)
        self._next: int | None = None

    def gap(self, message: Mapping[str, Any]) -> Gap:
        count = message.get("count")
        self._next = None if self._next is None or count is None else self._next + count
        return Gap(self._node, self._instance, count, message["cause"])

    def lost_before(self, message: Mapping[str, Any]) -> list[Gap]:
        """Return the gaps before a message, one for each cause: missing sequence numbers, without those thinned out."""
        first = message["samples"][0]["sequence"]
        missing = 0 if self._next is None else first - self._next - message.get("thinned", 0)
        counts = {} if self._next is None else reported(message, self._next, first)
        self._next = message["samples"][-1]["sequence"] + 1
        # A negative count means another run of the node, whose numbers start again. An earlier DAC reports no causes.
        rest = missing - sum(counts.values())
        if rest > 0:
            counts["before_the_dac"] = rest
        return [Gap(self._node, self._instance, count, cause) for cause, count in counts.items()]

    def batch(self, samples: list[dict[str, Any]], gaps: tuple[Gap, ...]) -> Batch:
        import numpy as np

        from oasis.table import numbers

        metrics = [sample["metrics"] for sample in samples]
        # An envelope has more columns than the schema, all of them numbers.
        first = metrics[0] if metrics else {column.path[0]: None for column in self._columns}
        known = [column for column in self._columns if column.path[0] in first]
        try:
            arrays = {column.name: column.array(metrics) for column in known}
        except KeyError:
            raise other_type(self._node, self._instance) from None
        named = {column.path[0] for column in known}
        unnamed = {name: [metric[name] for metric in metrics] for name in first if name not in named}
        more = {name: numbers(values, np.array(values).dtype) for name, values in unnamed.items()}
        return Batch(
            self._node,
            self._instance,
            np.array([sample["sequence"] for sample in samples], np.uint64),
            np.array([sample["time"] for sample in samples], np.int64).view("datetime64[ns]"),
            np.array([sample["state"] for sample in samples], np.uint16),
            arrays | more,
            gaps,
        )
