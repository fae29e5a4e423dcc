"""Watch values without a PDL file: the first call says what a probe measures.

oasis.watch("motor", rpm=900, temperature=21.5, units={"temperature": "Cel"})
"""

from __future__ import annotations

import re
import struct
import sys
import threading
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from oasis import _native, processes
from oasis.errors import EncodeError, SampleTooLongWarning
from oasis.node import Node, NodeBuilder, has_ended, running, warn_of_end
from oasis.row import RowWriter
from oasis.schema import schema_of

Value: TypeAlias = float | int | bool | str

MAX_WATCHES = 1_000
"""Most probes of a node that `watch` makes: a name that changes with each call would make one each time."""

RING_BYTES = 64 * 1024
"""Bytes between the program and its node, for each probe."""

# The types of PDL with their formats in a packed row; a text has none.
_FORMATS = {"boolean": "?", "int64": "q", "real64": "d", "string": None}
_INT64 = range(-(1 << 63), 1 << 63)
_REMEDIES = {
    "int64": "pass an int, or begin with a float such as 0.0",
    "real64": "pass a float",
    "boolean": "pass True or False",
    "string": "pass a str",
}

_lock = threading.Lock()
_node: Node | None = None
_has_warned_of_end = False


def watch(instance: str, /, *, units: Mapping[str, str] | None = None, **metrics: Value) -> bool:
    """Take a sample of `metrics`, each a float, an int, a bool or a str, for the page and all other tools.

    The first call of an instance decides which metrics it has and of which type; `units` are in UCUM, such as "Cel" or "1/min".
    A later call has the same metrics, and may have whole numbers for floats. Its `units` may be left out.

    Without a node of the program's own, a node named like the program connects to OASIS_DAC, or to 127.0.0.1:7071: the environment is
    that of `NodeBuilder()`. It never waits for the DAC. Returns whether there was room for the sample; others are dropped and counted. One of more than 64 KiB never has room: a `SampleTooLongWarning` says so once.
    While the program ends, after the last samples were sent, it returns False: a `NodeEndedWarning` says so once.
    Raises TypeError or ValueError for metrics that differ from those of the first call, and for names and units that PDL does not have.
    """
    node = _node
    if node is None or not node.is_running:
        if has_ended():
            return _refuse_at_end(instance)
        node = _find()
    return watch_at(node, instance, units, metrics)


def watch_at(
    node: Node, instance: str, units: Mapping[str, str] | None, metrics: Mapping[str, Value]
) -> bool:
    """Take a sample at this node."""
    watched = node.watched.get(instance)
    if watched is None and not node.is_running:
        if not node.has_warned_of_end:
            node.has_warned_of_end = warn_of_end(instance, level=4)
        return False
    if watched is None:
        return _begin(node, instance, units or {}, metrics).take(metrics)
    if units is not None and dict(units) != watched.units:
        raise ValueError(
            f"{instance} has had the units {watched.units} since its first call, not {dict(units)}"
        )
    try:
        return watched.take(metrics)
    except _native.ForkedError:
        # Something has forked without the interpreter's knowledge, which calls `_begin_child`.
        node.watched = {}
        return _begin(node, instance, units or {}, metrics).take(metrics)


class Watched:
    """The metrics of an instance, as its first call had them."""

    def __init__(
        self, native: _native.PushedProbe, instance: str, kinds: Mapping[str, str], units: dict[str, str]
    ) -> None:
        self.units = units
        self._native = native
        self._instance = instance
        self._kinds = kinds
        self._names = tuple(kinds)
        self._lock = threading.Lock()
        formats = [_FORMATS[kind] for kind in kinds.values()]
        # Texts have no fixed size.
        self._packed = None if None in formats else struct.Struct("<" + "".join(filter(None, formats)))
        self._types: tuple[type, ...] = ()
        self._has_warned = False

    def take(self, metrics: Mapping[str, Value]) -> bool:
        """Take a sample. Returns whether there was room."""
        try:
            values = tuple([metrics[name] for name in self._names])
        except KeyError:
            raise self._differs(metrics) from None
        if len(metrics) != len(values):
            raise self._differs(metrics)
        types = tuple(map(type, values))
        if types != self._types:
            values = tuple(map(self._fitting, self._names, values))
            self._types = tuple(map(type, values))
        row = self._row(values)
        with self._lock:
            is_taken = self._native.flush(row)
        return is_taken or self._warn_if_never_taken(row)

    def _warn_if_never_taken(self, row: bytes) -> bool:
        """Say once, and return False, if the node has ended or a row can never find room."""
        if self._native.has_ended():
            self._has_warned = self._has_warned or warn_of_end(self._instance, level=5)
            return False
        limit = self._native.max_row_bytes()
        if len(row) > limit and not self._has_warned:
            self._has_warned = True
            text = f"a sample of {self._instance} has {len(row)} bytes, at most {limit}: such samples are dropped and counted; cut its texts"
            warnings.warn(text, SampleTooLongWarning, stacklevel=4)
        return False

    def _row(self, values: tuple[Value, ...]) -> bytes:
        try:
            if self._packed is not None:
                return self._packed.pack(*values)
        except struct.error:
            pass
        row = RowWriter()
        for (name, kind), value in zip(self._kinds.items(), values, strict=True):
            getattr(row, kind)(value, f"{self._instance}.{name}")
        return row.getvalue()

    def _fitting(self, name: str, value: object) -> Value:
        """Return the value as its metric has it: those of other packages too, such as numpy's."""
        wanted = self._kinds[name]
        kind = _kind(value)
        if kind == "int64" and wanted == "real64":
            return float(value)  # type: ignore[arg-type]
        if kind != wanted:
            got = f"{type(value).__name__} {ascii(value)[:60]}"
            raise TypeError(
                f"{self._instance}.{name} is {wanted} since its first call, got {got}: {_REMEDIES[wanted]}"
            )
        return _plain(value, kind)

    def _differs(self, metrics: Iterable[str]) -> ValueError:
        given = set(metrics)
        missing, unknown = (
            [name for name in self._names if name not in given],
            sorted(given - set(self._names)),
        )
        odd = [
            f"{what} {', '.join(names)}" for what, names in (("without", missing), ("with", unknown)) if names
        ]
        return ValueError(
            f"{self._instance} has had the metrics {', '.join(self._names)} since its first call; this one is {' and '.join(odd)}:"
            " give all of them each time, or watch the others as an instance of their own"
        )


def _begin(node: Node, instance: str, units: Mapping[str, str], metrics: Mapping[str, Value]) -> Watched:
    if not metrics:
        raise ValueError(f"watch({instance!r}) has no metrics: pass them by name, such as rpm=900")
    unknown = sorted(set(units) - set(metrics))
    if unknown:
        raise ValueError(
            f"{instance} has a unit for {unknown[0]}, which is none of its metrics: {', '.join(metrics)}"
        )
    kinds = {}
    for name, value in metrics.items():
        kind = _kind(value)
        if kind is None:
            raise TypeError(
                f"{instance}.{name} is a {type(value).__name__}: watch takes float, int, bool and str;"
                " for lists and enums declare a class with @oasis.probe"
            )
        kinds[name] = kind
    described = [
        {"name": name, "type": kind} | ({"unit": units[name]} if name in units else {})
        for name, kind in kinds.items()
    ]
    _, schema = schema_of({"name": _type_name(instance), "version": "1.0", "metrics": described})
    with _lock:
        watched = node.watched.get(instance)
        if watched is None:
            if len(node.watched) >= MAX_WATCHES:
                raise ValueError(
                    f"{MAX_WATCHES} instances are watched already: use few names, and give what changes as a metric"
                )
            watched = Watched(node.add(instance, schema, RING_BYTES), instance, kinds, dict(units))
            node.watched[instance] = watched
    return watched


def _refuse_at_end(instance: str) -> bool:
    """Say once, and return False, that the program has sent its last samples."""
    global _has_warned_of_end
    if not _has_warned_of_end:
        _has_warned_of_end = warn_of_end(instance, level=4)
    return False


def _find() -> Node:
    """Return the node of the program, or start one."""
    global _node
    with _lock:
        nodes = [_node] if _node is not None and _node.is_running else running()
        if len(nodes) > 1:
            raise ValueError("the program has several nodes: call `watch` of the one that is meant")
        _node = nodes[0] if nodes else NodeBuilder(default_name=_program()).start()
        return _node


def _begin_child() -> None:
    """Forget locks, which another thread of the parent may have had, and probes of the parent's nodes."""
    global _lock
    _lock = threading.Lock()
    for node in running():
        node.watched = {}


def _program() -> str:
    """Return the name of the program, without its folder and ending."""
    path = Path(sys.argv[0] if sys.argv else "")
    # `python -m package` runs a file of another name.
    name = path.parent.name if path.name == "__main__.py" else path.stem
    printable = "".join(character for character in name if character.isprintable())
    return printable if printable.strip("-") else "python"


def _type_name(instance: str) -> str:
    """Return the name of a probe type: letters, digits and `_`."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", instance).strip("_")
    return name if name[:1].isalpha() else f"probe_{name}".rstrip("_")


def _kind(value: object) -> str | None:
    """Return the type of PDL for a value, if there is one."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if hasattr(value, "__index__"):
        return "int64"
    return "real64" if hasattr(value, "__float__") else None


def _plain(value: object, kind: str | None) -> Value:
    if kind == "boolean":
        return bool(value)
    if kind == "string":
        return str(value)
    if kind == "int64":
        number = int(value)  # type: ignore[call-overload]
        if number not in _INT64:
            raise EncodeError("int64", f"{number} has more than 64 bits")
        return int(number)
    return float(value)  # type: ignore[arg-type]


processes.at_fork(_begin_child)
