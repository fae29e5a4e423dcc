"""The cases of vectors/shapes.json as objects of the generated classes."""

from __future__ import annotations

import dataclasses
import json
import struct
import typing
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

import shapes

import oasis
from oasis import real32

VECTORS = Path(__file__).parents[3] / "vectors"

PROBES = {
    probe.NAME: probe
    for probe in vars(shapes).values()
    if isinstance(probe, type) and issubclass(probe, oasis.Probe)
}


@dataclasses.dataclass
class Case:
    """One sample in every form."""

    name: str
    sample: oasis.Probe
    row: bytes
    packets: dict[oasis.ByteOrder, bytes]
    batch: bytes


def cases() -> Iterator[Case]:
    """All of them."""
    for case in json.loads((VECTORS / "shapes.json").read_text())["cases"]:
        yield Case(
            case["name"],
            made(PROBES[case["probe"]], case["values"]),
            bytes.fromhex(case["row"]),
            {order: bytes.fromhex(case[order.value]) for order in oasis.ByteOrder},
            bytes.fromhex(case["batch"]),
        )


S = typing.TypeVar("S", bound=oasis.Struct)


def made(of: type[S], values: list[typing.Any]) -> S:
    """An object of a generated class."""
    hints = typing.get_type_hints(of)
    names = [field.name for field in dataclasses.fields(typing.cast("typing.Any", of))]
    assert len(names) == len(values)
    return of(**{name: value(hints[name], exact) for name, exact in zip(names, values, strict=True)})


def value(of: typing.Any, exact: typing.Any) -> typing.Any:
    """A value from what nothing can round (vectors/README.md)."""
    if typing.get_origin(of) is list:
        (element,) = typing.get_args(of)
        return [value(element, each) for each in exact]
    if issubclass(of, oasis.Struct):
        return made(of, exact)
    if issubclass(of, IntEnum):
        return of(int(exact))
    if of is float:
        bits = bytes.fromhex(exact["bits"])[::-1]
        return real32.from_bytes(bits) if len(bits) == 4 else struct.unpack("<d", bits)[0]
    if of is str:
        return exact["text"]
    return exact if of is bool else int(exact)


def exactly(value: object) -> object:
    """What is equal for equal values only: types and bits, NaN included."""
    if isinstance(value, oasis.Struct):
        fields = dataclasses.fields(typing.cast("typing.Any", value))
        return type(value), [exactly(getattr(value, field.name)) for field in fields]
    if isinstance(value, list):
        return [exactly(each) for each in value]
    return type(value), struct.pack("<d", value) if isinstance(value, float) else value
