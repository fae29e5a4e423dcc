"""Recorded samples as an Arrow stream (docs/guides/export-samples.md), many times faster than lines of JSON. Only this module needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http.client import HTTPException
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from oasis.door import DacError, Door
from oasis.live import Gap, reported

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

MAX_GAPS = 100
"""Maximum number of gaps key causes are requested; further gaps have the cause `not_asked`."""


def stream(door: Door, targets: Sequence[tuple[str, str]], since: str, until: str) -> pa.Table | None:
    """Fetch all samples of a time; None without Arrow in the DAC, without pyarrow, or without samples.

    Raises TypeError for instances of different types, DacError for what else the DAC refuses, OSError if the connection breaks.
    """
    if find_spec("pyarrow") is None:
        return None
    import pyarrow.ipc

    try:
        with door.arrow(targets, since, until) as answer, pyarrow.ipc.open_stream(answer) as batches:
            return batches.read_all()
    except DacError as refused:
        if refused.problem == "several_types":
            raise TypeError(str(refused)) from None
        # An older DAC has no such endpoint. The request for a schema then reports the existing instances.
        if refused.problem in ("no_arrow", "no_samples", "not_found", "unknown_instance"):
            return None
        raise
    except (pyarrow.ArrowInvalid, HTTPException) as broken:
        raise ConnectionError(f"the stream of recorded samples ended early: {broken}") from None


def arrays(table: pa.Table) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of `oasis.history`."""
    import numpy as np

    names = ("time", "node", "instance", "sequence", "state")
    made = {name: _array(table.column(name)) for name in names}
    made["time"] = made["time"].astype("datetime64[ns]")
    taken = {"run", "epoch", "offset", "time_ns", *names}
    metrics = [name for name in table.column_names if name not in taken]
    for name in metrics:
        for path, column in _members(name, table.column(name)):
            free, number = path, 2
            while free.lower() in taken:
                free, number = f"{path}_{number}", number + 1
            taken.add(free.lower())
            array = _array(column)
            made[free] = array if array.dtype.kind in "biufO" else array.astype(np.object_)
    return made


def _members(name: str, column: pa.ChunkedArray) -> Iterator[tuple[str, pa.ChunkedArray]]:
    import pyarrow as pa

    if not pa.types.is_struct(column.type):
        yield name, column
        return
    for field, member in zip(column.type, column.flatten(), strict=True):
        yield from _members(f"{name}.{field.name}", member)


def _array(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    import numpy as np
    import pyarrow as pa

    if pa.types.is_dictionary(column.type) and column.null_count == 0:
        parts = [
            np.asarray(chunk.dictionary.to_pylist(), object)[chunk.indices.to_numpy()]
            for chunk in column.chunks
        ]
        return np.concatenate(parts) if parts else np.empty(0, object)
    if (
        isinstance(column.type, pa.DictionaryType)
        or pa.types.is_nested(column.type)
        or pa.types.is_string(column.type)
    ):
        made = np.empty(len(column), object)
        made[:] = column.to_pylist()
        return made
    return np.asarray(column.to_numpy())


def gaps(door: Door, table: pa.Table) -> Iterator[Gap]:
    """Find gaps within the runs of each instance, and request their causes from the DAC."""
    import numpy as np

    key = ("node", "instance", "run")
    node, instance, run = (_array(table.column(name)) for name in key)
    sequence, time = table.column("sequence").to_numpy(), table.column("time").to_numpy().astype(np.int64)
    same = (node[1:] == node[:-1]) & (instance[1:] == instance[:-1]) & (run[1:] == run[:-1])
    missing = sequence[1:].astype(np.int64) - sequence[:-1].astype(np.int64) - 1
    found = np.flatnonzero(same & (missing > 0))
    for place, at in enumerate(found.tolist()):
        target, count = (str(node[at]), str(instance[at])), int(missing[at])
        if place >= MAX_GAPS:
            yield Gap(*target, count, "not_asked")
            continue
        # The clock may have been set back between the samples.
        first, last = sorted((int(time[at]), int(time[at + 1])))
        numbers = (int(sequence[at]) + 1, int(sequence[at + 1]))
        yield from _causes(door, target, numbers, (first, last + 1))


def _causes(
    door: Door, target: tuple[str, str], numbers: tuple[int, int], span: tuple[int, int]
) -> Iterator[Gap]:
    """Request the causes of a gap from the text door; samples without a cause there never reached an earlier DAC."""
    explained, count = 0, numbers[1] - numbers[0]
    try:
        for message in door.lines([target], **{"from": f"{span[0]}ns", "to": f"{span[1]}ns"}):
            for cause, lost in reported(message, *numbers).items():
                explained += lost
                yield Gap(*target, lost, cause)
            if message["event"] == "gap" and message.get("count"):
                explained += message["count"]
                yield Gap(*target, message["count"], message["cause"])
    except DacError:
        # The DAC has evicted the instance since.
        yield Gap(*target, count, "unexplained")
        return
    if explained < count:
        yield Gap(*target, count - explained, "before_the_dac")
