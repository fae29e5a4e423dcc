"""What cannot be carried is refused, and the error says why."""

from __future__ import annotations

import inspect
import json
import math
import struct
from typing import Any

import awkward
import pytest
from plant import Drive, Line, Mode, Trend
from shapes import ShapesNumbers, Texts

import oasis
from oasis import real32


def refusal(sample: oasis.Probe) -> str:
    with pytest.raises(oasis.EncodeError) as raised:
        sample.to_row()
    return str(raised.value)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"int8_value": 128}, "int8_value: expected int8 (-128 to 127), got 128"),
        ({"int8_value": -129}, "int8_value: expected int8 (-128 to 127), got -129"),
        ({"uint8_value": -1}, "uint8_value: expected uint8 (0 to 255), got -1"),
        ({"uint16_value": 65536}, "uint16_value: expected uint16 (0 to 65535), got 65536"),
        ({"int64_value": 1 << 63}, None),
        ({"uint64_value": 1 << 64}, None),
        ({"int32_value": 1.0}, "int32_value: expected int32 (-2147483648 to 2147483647), got 1.0"),
        ({"int32_value": True}, "int32_value: expected int32 (-2147483648 to 2147483647), got True"),
        ({"int32_value": None}, None),
        ({"real32_value": 1e39}, "real32_value: 1e+39 does not fit real32 (up to 3.4028235e+38)"),
        ({"real32_value": "1"}, "real32_value: expected float, got '1'"),
        ({"real64_value": False}, "real64_value: expected float, got False"),
        ({"real64_value": 10**400}, None),
        ({"boolean_value": 1}, "boolean_value: expected bool, got 1"),
    ],
)
def test_a_number_that_does_not_fit(values: dict[str, Any], problem: str | None) -> None:
    told = refusal(ShapesNumbers(**values))
    (name,) = values
    assert told == f"Shapes::Numbers.{problem}" if problem else told.startswith(f"Shapes::Numbers.{name}: ")


def test_numbers_that_fit_though_they_are_of_another_type() -> None:
    sample = ShapesNumbers(real32_value=2, real64_value=Trend.UP)
    read = ShapesNumbers.from_row(sample.to_row())
    assert (read.real32_value, read.real64_value) == (2.0, 300.0)


def test_texts_that_utf8_cannot_carry() -> None:
    assert refusal(Texts(text="a\ud800")) == (
        "Shapes::Texts.text: '\\ud800' at index 1 is a surrogate, which UTF-8 cannot carry"
    )
    assert refusal(Texts(texts=[b"octets"])) == "Shapes::Texts.texts: expected str, got b'octets'"  # type: ignore[list-item]
    assert refusal(Texts(texts="text")) == "Shapes::Texts.texts: expected list, got 'text'"  # type: ignore[arg-type]


def test_what_is_no_enumerator_or_struct() -> None:
    assert refusal(Line(mode=5)) == "Plant::Line7::Line.mode: expected Mode, got 5"  # type: ignore[arg-type]
    assert refusal(Line(drives=[None])) == "Plant::Line7::Line.drives: expected Drive, got None"  # type: ignore[list-item]


def test_an_error_in_a_member_names_its_metric() -> None:
    drive = Drive(name="left", mode=Trend.UP)  # type: ignore[arg-type]
    told = refusal(Line(drives=[drive]))
    assert told.startswith("Plant::Line7::Line.drives: Plant::Drive.mode: expected Mode, got <Trend.UP: 300>")


def test_a_number_that_the_enum_does_not_declare() -> None:
    row = bytearray(Line(mode=Mode.RUNNING).to_row())
    assert row[0] == 5
    row[0] = 4
    with pytest.raises(
        oasis.DecodeError, match="the Mode at offset 0 is 4, which it does not declare"
    ) as raised:
        Line.from_row(row)
    assert raised.value.fault is oasis.Fault.ENUMERATOR


@pytest.mark.parametrize(
    ("row", "fault", "offset"),
    [
        (b"", oasis.Fault.TRUNCATED, 0),
        (b"\x80" * 9 + b"\x02", oasis.Fault.VARINT, 0),
        (b"\xff" * 9 + b"\x01", oasis.Fault.TRUNCATED, 10),
        (b"\x01\xff", oasis.Fault.TEXT, 0),
        (b"\x00\x02", oasis.Fault.BOOLEAN, 1),
        (b"\x00\x01\x03\x00\x00", oasis.Fault.ELEMENTS, 2),
        (b"\x00\x01\x00\x00", oasis.Fault.LEFTOVER, 3),
    ],
)
def test_a_row_that_breaks_the_format(row: bytes, fault: oasis.Fault, offset: int) -> None:
    with pytest.raises(oasis.DecodeError) as raised:
        Texts.from_row(row)
    assert (raised.value.fault, raised.value.offset) == (fault, offset)


@pytest.mark.parametrize(
    "bits", [0x7F80_0001, 0xFF80_0001, 0x7FC1_2345, 0xFFFF_FFFF, 0x7F80_0000, 0x8000_0000]
)
def test_a_real32_keeps_its_bits(bits: int) -> None:
    octets = bits.to_bytes(4, "little")
    assert real32.to_bytes(real32.from_bytes(octets)) == octets


def test_a_nan_without_room_for_its_payload_stays_a_nan() -> None:
    (narrow,) = struct.unpack("<d", (0x7FF0_0000_0000_0001).to_bytes(8, "little"))
    assert math.isnan(real32.from_bytes(real32.to_bytes(narrow)))


def test_a_schema_is_json_and_names_stay_those_of_the_pdl() -> None:
    schema = json.loads(awkward.AwkwardMetrics.SCHEMA)
    assert schema["name"] == awkward.AwkwardMetrics.NAME == "Awkward::Metrics"
    assert schema["uuid"] == str(awkward.AwkwardMetrics.UUID)
    assert [metric["name"] for metric in schema["metrics"]][:4] == ["UUID", "UUID_", "write", "list"]
    assert schema["doc"] == '"Quoted" and \\ and """three""".\n\n    indented\n'
    assert inspect.getdoc(awkward.AwkwardMetrics) == '"Quoted" and \\ and """three""".\n\nindented'


def test_a_sample_has_the_fields_of_its_type_only() -> None:
    with pytest.raises(AttributeError):
        Line().temprature = 20.0  # type: ignore[attr-defined]
