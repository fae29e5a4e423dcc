#!/usr/bin/env python3
"""Writes the messages of MAVLink's dialect ardupilotmega, which contains the dialect common, as the table of this crate.

    make_messages.py src/messages.txt          writes the table
    make_messages.py --check src/messages.txt  compares it

It needs pymavlink (tests/end_to_end/recordings/requirements.txt), whose generator parses the XML files.
"""

import contextlib
import importlib.metadata
import io
import os
import sys
from pathlib import Path

import pymavlink
from pymavlink.generator import mavparse

DIALECT = "ardupilotmega.xml"
# Longest description in the table, in characters.
MAX_DESCRIPTION = 240

# Units of the XML files as UCUM. Values stay as they are sent, so that units have the scale.
UNITS = {
    "%": "%",
    "A": "A",
    "Hz": "Hz",
    "KiB/s": "KiBy/s",
    "MiB": "MiBy",
    "MiB/s": "MiBy/s",
    "Pa": "Pa",
    "V": "V",
    "W": "W",
    "bits/s": "bit/s",
    "bytes": "By",
    "c%": "10*-2.%",
    "cA": "cA",
    "cV": "cV",
    "cdeg": "10*-2.deg",
    "cdegC": "cCel",
    "cm": "cm",
    "cm/s": "cm/s",
    "cm^2": "cm2",
    "cm^3": "cm3",
    "cm^3/min": "cm3/min",
    "cs": "cs",
    "d%": "10*-1.%",
    "dB": "dB",
    "dam": "dam",
    "ddeg/s": "10*-1.deg/s",
    "deg": "deg",
    "deg/2": "2.deg",
    "deg/s": "deg/s",
    "degC": "Cel",
    "degE5": "10*-5.deg",
    "degE7": "10*-7.deg",
    "dm": "dm",
    "dm/s": "dm/s",
    "ds": "ds",
    "g": "g",
    "gauss": "G",
    "hJ": "hJ",
    "hPa": "hPa",
    "kPa": "kPa",
    "kg": "kg",
    "l": "l",
    "m": "m",
    "m/s": "m/s",
    "m/s*5": "m/5.s",
    "m/s/s": "m/s2",
    "mA": "mA",
    "mAh": "mA.h",
    "mG": "m[g]",
    "mV": "mV",
    "mbar": "mbar",
    "mgauss": "mG",
    "mm": "mm",
    "mm/s": "mm/s",
    "mrad/s": "mrad/s",
    "ms": "ms",
    "ns": "ns",
    "pix": "{pixel}",
    "rad": "rad",
    "rad/s": "rad/s",
    "rpm": "{rev}/min",
    "s": "s",
    "us": "us",
}


def parsed() -> list:
    """All XML files of the dialect, with their enums merged."""
    with contextlib.redirect_stdout(io.StringIO()):
        # The generator reports each enum that it merges, and values that it doubts.
        return parsed_aloud()


def parsed_aloud() -> list:
    folder = Path(pymavlink.__file__).parent / "dialects" / "v20"
    files, wanted = {}, [DIALECT]
    while wanted:
        name = wanted.pop(0)
        if name not in files:
            files[name] = mavparse.MAVXML(str(folder / name), mavparse.PROTOCOL_2_0)
            wanted += files[name].include
    mavparse.merge_enums(list(files.values()))
    return list(files.values())


def plain(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_DESCRIPTION else words[: MAX_DESCRIPTION - 1] + "\u2026"


def field_line(field, is_extension: bool) -> str:
    kind = field.type.removesuffix("_t")
    length = f"[{field.array_length}]" if field.array_length else ""
    unit = UNITS[field.units.strip("[]")] if field.units else ""
    mark = "extension" if is_extension else "field"
    return "\t".join([mark, kind + length, field.name, unit, field.enum, plain(field.description)])


def table() -> str:
    files = parsed()
    version = importlib.metadata.version("pymavlink")
    lines = [
        f"# The messages of MAVLink's dialect {DIALECT}, made by make_messages.py with pymavlink {version}. LICENSE-MAVLINK has their license.",
    ]
    messages = sorted((message for file in files for message in file.message), key=lambda message: message.id)
    used = {field.enum for message in messages for field in message.fields}
    enums = {}
    for file in files:
        for enum in file.enum:
            enums.setdefault(enum.name, enum)
    for name in sorted(used & enums.keys()):
        enum = enums[name]
        lines.append("\t".join(["bitmask" if enum.bitmask else "enum", name]))
        entries = {entry.value: entry for entry in reversed(enum.entry) if not entry.end_marker}
        lines += [f"value\t{value}\t{entries[value].name}" for value in sorted(entries)]
    for message in messages:
        crc = mavparse.message_checksum(message)
        lines.append("\t".join(["message", str(message.id), str(crc), message.name, plain(message.description)]))
        extensions = message.extensions_start if message.extensions_start is not None else len(message.fields)
        lines += [field_line(field, at >= extensions) for at, field in enumerate(message.fields)]
    return "\n".join(lines) + "\n"


def main() -> int:
    is_check = sys.argv[1:2] == ["--check"]
    path = Path(sys.argv[-1])
    made = table()
    if not is_check:
        path.write_text(made, encoding="utf-8")
        return 0
    if path.read_text(encoding="utf-8") == made:
        return 0
    print(f"{path} differs from what {os.path.basename(__file__)} makes", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
