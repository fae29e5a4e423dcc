"""Recorded samples as a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, overload

from oasis.arrow import arrays, gaps, stream
from oasis.door import URL, DacError, Door, Time, moment, split
from oasis.live import Batch, Gap, batches, other_type

if TYPE_CHECKING:
    import numpy.typing as npt

Frame = Literal["auto", "pandas", "polars", "arrow", "numpy"]
"""Type of a table. `auto` is pandas if installed, else polars, else a dict of numpy arrays."""


class MissingSamplesWarning(UserWarning):
    """Samples of the requested time are missing."""


@overload
def history(
    *instances: str,
    since: Time = ...,
    until: Time = ...,
    url: str = ...,
    frame: Literal["numpy"],
    on_gap: Callable[[Gap], object] | None = ...,
) -> dict[str, npt.NDArray[Any]]: ...


@overload
def history(
    *instances: str,
    since: Time = ...,
    until: Time = ...,
    url: str = ...,
    frame: Frame = ...,
    on_gap: Callable[[Gap], object] | None = ...,
) -> Any: ...


def history(
    *instances: str,
    since: Time = 0,
    until: Time = "-0s",
    url: str = URL,
    frame: Frame = "auto",
    on_gap: Callable[[Gap], object] | None = None,
) -> Any:
    """Fetch all samples of `NODE/INSTANCE`s of one probe type, from the archive and the topic logs, as a table.

    With pyarrow installed, from a DAC built with Arrow, they come as an Arrow stream, many times faster; otherwise as JSON.

    Columns are `time` (UTC, to the nanosecond), `node`, `instance`, `sequence`, `state`, then a column for each metric: a member of a
    struct is `position.x`, an enum the names of its values, a vector a list. Rows of one instance are in the order of arrival.

    Each gap is passed to `on_gap`; without `on_gap` it is reported as a MissingSamplesWarning. Raises DacError if the DAC refuses the request,
    TypeError if the instances have different types now or had another type then, and OSError if the DAC cannot be reached.
    """
    targets = [split(instance) for instance in instances]
    if not targets:
        raise ValueError("name at least one instance: oasis.history('my-host/processor')")
    door, span = Door(url), (moment(since), moment(until))
    found = stream(door, targets, *span)
    if found is not None:
        for gap in gaps(door, found):
            _report(gap, on_gap)
        return _frame(arrays(found), frame)
    return _frame(_of_lines(door, targets, span, on_gap), frame)


def _of_lines(
    door: Door,
    targets: list[tuple[str, str]],
    span: tuple[str, str],
    on_gap: Callable[[Gap], object] | None,
) -> dict[str, npt.NDArray[Any]]:
    from oasis.table import columns

    schemas = [door.schema(*target) for target in targets]
    if any(schema["uuid"] != schemas[0]["uuid"] or schema != schemas[0] for schema in schemas):
        raise TypeError(
            "a table has the columns of one probe type: these instances have different probe types"
        )
    messages = door.lines(targets, **{"from": span[0], "to": span[1]})
    found: list[Batch] = []
    names = {column.name for column in columns(schemas[0])}
    for batch in batches(door, _to_the_end(messages)):
        if batch.columns.keys() != names:
            raise other_type(batch.node, batch.instance)
        for gap in batch.gaps:
            _report(gap, on_gap, depth=4)
        found.append(batch)
    return _table(found, schemas[0])


def _to_the_end(messages: Any) -> Any:
    for message in messages:
        if message["event"] == "end" and message["cause"] != "to":
            raise DacError(f"the stream of recorded samples ended early: {message['cause']}")
        yield message


def _report(gap: Gap, on_gap: Callable[[Gap], object] | None, depth: int = 3) -> None:
    if on_gap is not None:
        on_gap(gap)
        return
    many = "samples" if gap.count is None else f"{gap.count} samples"
    text = f"{gap.node}/{gap.instance}: {many} missing ({gap.cause})"
    warnings.warn(text, MissingSamplesWarning, stacklevel=depth)


def _table(found: list[Batch], schema: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    import numpy as np

    from oasis.table import columns

    def joined(arrays: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
        return np.concatenate(arrays) if arrays else np.empty(0, dtype)

    def repeated(name: str) -> npt.NDArray[Any]:
        return joined([np.full(len(batch), getattr(batch, name), object) for batch in found], object)

    table = {
        "time": joined([batch.time for batch in found], "datetime64[ns]"),
        "node": repeated("node"),
        "instance": repeated("instance"),
        "sequence": joined([batch.sequence for batch in found], np.uint64),
        "state": joined([batch.state for batch in found], np.uint16),
    }
    for column in columns(schema):
        table[column.name] = joined([batch.columns[column.name] for batch in found], column.dtype)
    return table


def _frame(table: dict[str, npt.NDArray[Any]], frame: Frame) -> Any:
    if frame == "auto":
        frame = next((name for name in ("pandas", "polars") if find_spec(name)), "numpy")
    if frame == "pandas":
        import pandas as pd

        made = pd.DataFrame(table)
        made["time"] = made["time"].dt.tz_localize("UTC")
        return made
    if frame == "polars":
        import polars as pl

        made = pl.DataFrame({name: of.tolist() if of.dtype == object else of for name, of in table.items()})
        return made.with_columns(pl.col("time").dt.replace_time_zone("UTC"))
    if frame == "arrow":
        import pyarrow as pa

        columns = {name: of.tolist() if of.dtype == object else of for name, of in table.items()}
        columns["time"] = pa.array(table["time"], pa.timestamp("ns", "UTC"))
        return pa.table(columns)
    if frame == "numpy":
        return table
    raise ValueError(f"unknown frame {frame!r}: use auto, pandas, polars, arrow or numpy")
