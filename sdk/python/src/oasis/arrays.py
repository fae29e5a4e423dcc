"""Samples as numpy arrays: a structured type whose fields lie as the metrics do in a packed row, so that nothing is copied value by value.

Only metrics of fixed size can be in an array: numbers, booleans, enums, and structs of those. numpy is needed only here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from oasis.probe import Probe

Columns = Mapping[str, npt.ArrayLike]

_SIMPLE = {
    **{f"int{8 * width}": f"<i{width}" for width in (1, 2, 4, 8)},
    **{f"uint{8 * width}": f"<u{width}" for width in (1, 2, 4, 8)},
    "real32": "<f4",
    "real64": "<f8",
    "boolean": "?",
}


def metric_numbers(probe: type[Probe], metrics: tuple[str, ...] | None) -> list[int]:
    """Number the metrics of these names, or all of them. Raises ValueError for a name that is none."""
    names = [metric["name"] for metric in json.loads(probe.SCHEMA)["metrics"]]
    if metrics is None:
        return list(range(len(names)))
    unknown = [name for name in metrics if name not in names]
    if unknown:
        raise ValueError(f"{probe.NAME} has no metric {unknown[0]!r}: it has {', '.join(names)}")
    return [names.index(name) for name in metrics]


def dtype(probe: type[Probe], metrics: tuple[str, ...] | None = None) -> np.dtype[np.void]:
    """Find the type of an array of samples. Raises TypeError for a metric without a fixed size."""
    of = json.loads(probe.SCHEMA)["metrics"]
    return _struct([of[number] for number in metric_numbers(probe, metrics)], probe.NAME)


def rows(probe: type[Probe], samples: npt.NDArray[np.void] | Columns) -> tuple[bytes, int]:
    """Pack samples: an array of `dtype(probe)` or of fields that go into it, or a column for each metric."""
    wanted = dtype(probe)
    names = wanted.names or ()
    columns = {name: samples[name] for name in names} if isinstance(samples, np.ndarray) else dict(samples)
    if set(columns) != set(names):
        sides = {"missing": set(names) - set(columns), "no metric": set(columns) - set(names)}
        odd = "; ".join(f"{what}: {', '.join(sorted(of))}" for what, of in sides.items() if of)
        raise ValueError(f"{probe.NAME} has the metrics {', '.join(names)}; {odd}")
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    lengths = {len(array) for array in arrays.values()} if arrays else {len(samples)}
    if len(lengths) > 1:
        raise ValueError(f"the columns of {probe.NAME} have different lengths: {sorted(lengths)}")
    packed = np.empty(lengths.pop(), wanted)
    for name, array in arrays.items():
        packed[name] = _fitting(array, wanted[name], f"{probe.NAME}.{name}")
    return packed.tobytes(), len(packed)


def times(time: npt.ArrayLike, count: int) -> bytes:
    """Pack the times of samples."""
    array = np.asarray(time)
    if array.shape != (count,):
        raise ValueError(f"{count} samples need as many times, not an array of shape {array.shape}")
    return _fitting(array, np.dtype("<u8"), "time").tobytes()


def _fitting(array: npt.NDArray[Any], wanted: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    if np.can_cast(array.dtype, wanted, "safe") or array.size == 0:
        return array
    if wanted.kind in "iu" and array.dtype.kind in "iu":
        limits = np.iinfo(wanted)
        if limits.min <= int(array.min()) and int(array.max()) <= limits.max:
            return array
        raise ValueError(f"{what}: {array.min()} to {array.max()} is not within {limits.min} to {limits.max}")
    if wanted.kind == "f" and array.dtype.kind in "fiu":
        return array
    raise TypeError(f"{what}: expected an array of {wanted}, got {array.dtype}")


def _struct(members: list[dict[str, Any]], path: str) -> np.dtype[np.void]:
    return np.dtype(
        [(member["name"], _type(member["type"], f"{path}.{member['name']}")) for member in members]
    )


def _type(kind: Any, path: str) -> np.dtype[Any]:
    if isinstance(kind, str) and kind in _SIMPLE:
        return np.dtype(_SIMPLE[kind])
    if isinstance(kind, dict) and "struct" in kind:
        return _struct(kind["struct"]["members"], path)
    is_blob = isinstance(kind, dict) and "blob" in kind
    what = "a string" if kind == "string" else "a blob" if is_blob else "a vector"
    raise TypeError(
        f"{path} is {what}, which has no fixed size: leave it out with metrics=(…), or use objects"
    )
