"""Samples as they come, in batches of numpy arrays."""

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
    """Samples that are not there."""

    node: str
    """Whose."""
    instance: str
    """Whose."""
    count: int | None
    """How many; nobody knows after a restart of a DAC without an archive."""
    cause: str
    """A word of docs/reference/text-doors.md, or `before_the_dac`: the DAC's ledger says which hop lost them."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of one instance, as arrays of one length."""

    node: str
    """Whose."""
    instance: str
    """Whose."""
    sequence: npt.NDArray[np.uint64]
    """Numbers of the samples in the life of their probe instance."""
    time: npt.NDArray[np.datetime64]
    """When they were taken, UTC, to the nanosecond, by the node's clock."""
    state: npt.NDArray[np.uint16]
    """State of the probe; 0 is normal."""
    columns: Mapping[str, npt.NDArray[Any]]
    """An array for each metric and each member of a struct: `batch.columns["idle_time"]`, `batch.columns["at.x"]`."""
    gaps: tuple[Gap, ...]
    """What is missing between the batch before, of whatever instance, and this one."""

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
    """Iterate over the samples of `NODE/INSTANCE`s as they come, without end.

    `since` a time in the past, what is stored comes first, then what is live, each sample once. `delivery` is `every`, `latest`,
    `max_hz=N` or `envelope=N`. If the connection breaks, it goes on behind the last sample, for `patience` seconds.

    Raises DacError for what the DAC refuses, and OSError if it cannot be reached any more.
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
        hole = reader.hole(message) if not envelope else None
        if hole:
            gaps.append(hole)
        yield reader.batch(message["samples"], tuple(gaps))
        gaps.clear()
    if gaps:
        # What is missing at the very end has no samples behind it.
        key = (gaps[-1].node, gaps[-1].instance)
        reader = readers.get(key) or _Reader(*key, door.schema(*key))
        yield reader.batch([], tuple(gaps))


def other_type(node: str, instance: str) -> TypeError:
    """Say that recorded samples do not have the metrics of the type that the instance has now."""
    return TypeError(f"{node}/{instance} was of another type then: ask for the time since it has this one")


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

    def hole(self, message: Mapping[str, Any]) -> Gap | None:
        """Find what was lost before it came to the DAC: sequence numbers that are not there, but for those thinned away."""
        first = message["samples"][0]["sequence"]
        missing = 0 if self._next is None else first - self._next - message.get("thinned", 0)
        self._next = message["samples"][-1]["sequence"] + 1
        # Less than nothing is another run of the node, which counts anew.
        return Gap(self._node, self._instance, missing, "before_the_dac") if missing > 0 else None

    def batch(self, samples: list[dict[str, Any]], gaps: tuple[Gap, ...]) -> Batch:
        import numpy as np

        metrics = [sample["metrics"] for sample in samples]
        # An envelope has more than the schema says, and all of it is numbers.
        first = metrics[0] if metrics else {column.path[0]: None for column in self._columns}
        known = [column for column in self._columns if column.path[0] in first]
        try:
            arrays = {column.name: column.array(metrics) for column in known}
        except KeyError:
            raise other_type(self._node, self._instance) from None
        named = {column.path[0] for column in known}
        more = {name: np.array([metric[name] for metric in metrics]) for name in first if name not in named}
        return Batch(
            self._node,
            self._instance,
            np.array([sample["sequence"] for sample in samples], np.uint64),
            np.array([sample["time"] for sample in samples], np.int64).view("datetime64[ns]"),
            np.array([sample["state"] for sample in samples], np.uint16),
            arrays | more,
            gaps,
        )
