"""Probe types from dataclasses, without a PDL file.

@oasis.probe
class Motor:
    rpm: int
    temperature: Annotated[float, oasis.Unit("Cel"), oasis.Range(-40, 150)]
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, overload

from oasis.probe import Probe
from oasis.reader import Reader
from oasis.schema import schema_of
from oasis.writer import Writer

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform() -> Callable[[T], T]:
        """Only tools read it, and Python 3.10 does not have it."""
        return lambda function: function


T = TypeVar("T")


@dataclass(frozen=True)
class Unit:
    """The unit of a metric in UCUM: "Cel", "1/min"."""

    unit: str


@dataclass(frozen=True)
class Range:
    """The least and the greatest value that make sense."""

    min: float | None = None
    max: float | None = None


@dataclass(frozen=True)
class Warn:
    """Values worth a warning: less than `below`, more than `above`."""

    below: float | None = None
    above: float | None = None


@dataclass(frozen=True)
class Alarm:
    """Values worth an alarm: less than `below`, more than `above`."""

    below: float | None = None
    above: float | None = None


@dataclass(frozen=True)
class Kind:
    """How a metric behaves over time."""

    kind: Literal["counter", "gauge", "state", "event"]


@dataclass(frozen=True)
class Label:
    """A name for people."""

    label: str


@dataclass(frozen=True)
class Doc:
    """What a metric is."""

    doc: str


@dataclass(frozen=True)
class As:
    """Another type of PDL than that of the annotation: "uint8" for an int, "real32" for a float."""

    kind: Literal[
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "real32", "real64"
    ]


@overload
@dataclass_transform()
def probe(declared: type[T], /) -> type[T]: ...
@overload
@dataclass_transform()
def probe(
    *, type: str | None = None, version: str = "1.0", uuid: str | None = None
) -> Callable[[type[T]], type[T]]: ...
def probe(
    declared: type[T] | None = None,
    /,
    *,
    type: str | None = None,  # noqa: A002 - as in PDL and the other languages
    version: str = "1.0",
    uuid: str | None = None,
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a probe type, and a dataclass if it is none: its fields are the metrics.

    A field is an int (int64), a float (real64), a bool, a str, an IntEnum, or a list of these. `Annotated` adds `Unit`, `Range`, `Warn`,
    `Alarm`, `Kind`, `Label`, `Doc` and `As`. `type` is the scoped name, such as "Plant::Motor"; the name of the class if absent.
    `uuid` is the identity; without it, it is computed from the schema, so a changed class is another type.
    Raises TypeError for a field that cannot be a metric, ValueError for names, units and limits that PDL does not have.
    """

    decorate = _decorator(type, version, uuid)
    return decorate if declared is None else decorate(declared)


def _decorator(name: str | None, version: str, uuid: str | None) -> Callable[[type[T]], type[T]]:
    def decorate(of: type[T]) -> type[T]:
        # Before the dataclass puts its own there.
        doc = of.__dict__.get("__doc__")
        if not dataclasses.is_dataclass(of):
            of = dataclass(of)
        elif doc is not None and doc.startswith(f"{of.__name__}("):
            doc = None
        return _declare(of, name or of.__name__, version, uuid, doc)

    return decorate


def _declare(of: type[T], name: str, version: str, uuid: str | None, doc: str | None) -> type[T]:
    metrics = [_Metric.of(field, hint, of) for field, hint in _fields(of)]
    declared: dict[str, object] = {"name": name, "version": version}
    if doc:
        declared["doc"] = inspect.cleandoc(doc)
    declared["metrics"] = [metric.schema for metric in metrics]
    identity, schema = schema_of(declared)
    if uuid is not None:
        identity, schema = schema_of({**declared, "uuid": uuid})

    def write(self: object, to: Writer) -> None:
        """Write the metrics in order."""
        for metric in metrics:
            metric.write(to, getattr(self, metric.name))

    def read(cls: Callable[..., T], source: Reader) -> T:
        """Read the metrics in order."""
        return cls(**{metric.name: metric.read(source) for metric in metrics})

    members: dict[str, Any] = {
        "NAME": name,
        "UUID": identity,
        "VERSION": version,
        "SCHEMA": schema,
        "write": write,
        "read": classmethod(read),
        "to_row": Probe.to_row,
        "from_row": classmethod(Probe.from_row.__func__),  # type: ignore[attr-defined]
    }
    for member, value in members.items():
        setattr(of, member, value)
    Probe.register(of)
    return of


def _fields(of: type) -> list[tuple[str, Any]]:
    try:
        hints = typing.get_type_hints(of, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{of.__name__}: {error}: declare the class and the types of its fields at the top of a module"
        ) from None
    return [(field.name, hints[field.name]) for field in dataclasses.fields(of)]


class _Metric:
    """A field: how it is described, written and read."""

    def __init__(
        self,
        name: str,
        schema: dict[str, object],
        place: str,
        kind: str,
        of: type[IntEnum] | None,
        depth: int,
    ):
        self.name = name
        self.schema = schema
        self._place = place
        self._kind = kind
        self._enum = of
        self._depth = depth

    @classmethod
    def of(cls, name: str, hint: Any, owner: type) -> _Metric:
        place = f"{owner.__name__}.{name}"
        notes: tuple[object, ...] = ()
        if typing.get_origin(hint) is Annotated:
            hint, *rest = typing.get_args(hint)
            notes = tuple(rest)
        depth = 0
        while typing.get_origin(hint) is list:
            (hint,) = typing.get_args(hint)
            depth += 1
        kind, enumeration = _kind(hint, place)
        kind = next((note.kind for note in notes if isinstance(note, As)), kind)
        wire: object = kind
        for _ in range(depth):
            wire = {"vector": wire}
        schema = {"name": name, "type": wire} | _described(notes, place)
        if enumeration is not None:
            values = [{"name": value.name, "value": int(value)} for value in enumeration]
            schema["enum"] = {"name": enumeration.__name__, "values": values}
        return cls(name, schema, place, kind, enumeration, depth)

    def write(self, to: Writer, value: Any) -> None:
        self._write(to, value, self._depth)

    def _write(self, to: Writer, value: Any, depth: int) -> None:
        if depth > 0:
            for element in to.vector(value, self._place):
                self._write(to, element, depth - 1)
        elif self._enum is not None:
            to.enumerator(value, self._enum, getattr(to, self._kind), self._place)
        else:
            getattr(to, self._kind)(value, self._place)

    def read(self, source: Reader) -> Any:
        return self._read(source, self._depth)

    def _read(self, source: Reader, depth: int) -> Any:
        if depth > 0:
            return [self._read(source, depth - 1) for _ in range(source.vector())]
        read = getattr(source, self._kind)
        return read() if self._enum is None else source.enumerator(self._enum, read)


def _kind(hint: Any, place: str) -> tuple[str, type[IntEnum] | None]:
    simple = {bool: "boolean", int: "int64", float: "real64", str: "string"}
    if hint in simple:
        return simple[hint], None
    if isinstance(hint, type) and issubclass(hint, IntEnum):
        least, greatest = min(hint, default=0), max(hint, default=0)
        bounds = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-(1 << 15), (1 << 15) - 1)}
        for kind, (low, high) in bounds.items():
            if low <= least and greatest <= high:
                return kind, hint
        return "int32", hint
    shown = getattr(hint, "__name__", None) or str(hint)
    raise TypeError(
        f"{place} is {shown}, which cannot be a metric: use int, float, bool, str, an IntEnum or a list of these, or declare the type in PDL"
    )


def _described(notes: tuple[object, ...], place: str) -> dict[str, object]:
    described: dict[str, object] = {}
    for note in notes:
        match note:
            case Unit() | Kind() | Label() | Doc():
                described |= dataclasses.asdict(note)
            case Range():
                described |= _present(note)
            case Warn() | Alarm():
                described[type(note).__name__.lower()] = _present(note)
            case As():
                pass
            case _ if type(note).__module__ == __name__ or note in (
                Unit,
                Range,
                Warn,
                Alarm,
                Kind,
                Label,
                Doc,
                As,
            ):
                raise TypeError(f'{place}: call {note!r}, such as oasis.Unit("Cel")')
    order = ("doc", "unit", "kind", "label", "min", "max", "warn", "alarm")
    return {member: described[member] for member in order if member in described}


def _present(note: Range | Warn | Alarm) -> dict[str, object]:
    return {member: value for member, value in dataclasses.asdict(note).items() if value is not None}
