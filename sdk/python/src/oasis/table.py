"""Samples as columns: numpy arrays with the names that CSV, Arrow and SQL have for them (docs/reference/tables.md). numpy is needed only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FIXED = ("node", "instance", "run", "epoch", "offset", "sequence", "time", "time_ns", "state")
"""Names that no metric takes."""

_SIMPLE = {
    **{f"int{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "real32": "float32",
    "real64": "float64",
    "boolean": "bool",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A metric, or a member of a struct."""

    name: str
    """Unique whatever the case: `position.x`, or `time_2` for a metric that is called as a fixed column is."""
    unit: str | None
    """UCUM unit, such as `By` or `ms`."""
    dtype: np.dtype[Any]
    """Of its array; texts, the names of enums and vectors are objects."""
    names: Mapping[int, str] | None
    """What the numbers of an enum are called."""
    path: tuple[str, ...]
    """Where a sample has it."""
    vector: Any = None
    """Type of its elements, if it is a vector."""

    def array(self, samples: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Take this column's value out of each sample's metrics: None, or NaN among numbers, where a sample lacks it."""
        values: list[Any] = [*samples]
        for step in self.path:
            values = [None if value is None else value[step] for value in values]
        if self.vector is not None or self.names is not None:
            values = [None if value is None else self._plain(value) for value in values]
        if self.dtype == object:
            array = np.empty(len(samples), object)
            array[:] = values
            return array
        return numbers(values, self.dtype)

    def _plain(self, value: Any) -> Any:
        """Convert a vector, or the number of an enum."""
        if self.vector is not None:
            return [_plain(self.vector, self.names, element) for element in value]
        return (self.names or {}).get(value, str(value))


def numbers(values: Sequence[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Make an array of this type; of floats, or of objects for booleans, if some values are None."""
    # Numbers that JSON does not have are text: "NaN", "Infinity"; numpy reads it.
    if dtype.kind == "f":
        return np.array([float("nan") if value is None else float(value) for value in values], dtype)
    if None not in values:
        return np.array(values, dtype)
    if dtype.kind == "b":
        return np.array(values, object)
    return np.array([float("nan") if value is None else value for value in values], np.float64)


def columns(schema: Mapping[str, Any]) -> list[Column]:
    """Find the columns of a probe type, of which this is the schema."""
    taken = {name.lower() for name in FIXED}
    found: list[Column] = []
    for metric in schema["metrics"]:
        _flatten(metric, metric["name"], (metric["name"],), taken, found)
    return found


def _flatten(
    metric: Mapping[str, Any], name: str, path: tuple[str, ...], taken: set[str], found: list[Column]
) -> None:
    kind = metric["type"]
    if isinstance(kind, dict) and "struct" in kind:
        for member in kind["struct"]["members"]:
            _flatten(member, f"{name}.{member['name']}", (*path, member["name"]), taken, found)
        return
    free, number = name, 2
    while free.lower() in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free.lower())
    names = _names(metric)
    simple = _SIMPLE.get(kind) if isinstance(kind, str) and names is None else None
    vector = kind["vector"] if isinstance(kind, dict) else None
    found.append(Column(free, metric.get("unit"), np.dtype(simple or object), names, path, vector))


def _names(metric: Mapping[str, Any]) -> Mapping[int, str] | None:
    return {value["value"]: value["name"] for value in metric["enum"]["values"]} if "enum" in metric else None


def _plain(kind: Any, names: Mapping[int, str] | None, value: Any) -> Any:
    """Make what Arrow has for an element of a vector, out of what JSON has."""
    if value is None:
        return None
    if isinstance(kind, dict) and "vector" in kind:
        return [_plain(kind["vector"], names, element) for element in value]
    if isinstance(kind, dict):
        members = kind["struct"]["members"]
        return {of["name"]: _plain(of["type"], _names(of), value[of["name"]]) for of in members}
    if names is not None:
        return names.get(value, str(value))
    return float(value) if kind in ("real32", "real64") else value
