"""Makes embedded-link.json: `python3 vectors/make_embedded_link.py`."""

import json
import struct
import sys
import uuid
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sdk/embedded/tests"))

import link

MOTOR = uuid.UUID("0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa")
SESSION = 0x1CE0DE00
NODE_TIME = 1763683200000000000
SCHEMA = {
    "name": "Plant::Motor",
    "uuid": str(MOTOR),
    "version": "1.0",
    "metrics": [{"name": name, "type": "int16"} for name in ("x", "y", "z")],
}
TEXT = json.dumps(SCHEMA, separators=(",", ":")).encode()


def text(value: str) -> bytes:
    return bytes([len(value.encode())]) + value.encode()


def announce() -> bytes:
    head = struct.pack("<BBI", 1, 1, 3) + text("pump 7") + text("demo 1.0") + bytes([1])
    return (
        head
        + MOTOR.bytes
        + struct.pack("<IHBBIQ", zlib.crc32(TEXT), len(TEXT), 0, 1, 1_000_000, 41)
        + text("motor")
    )


def batch() -> bytes:
    """Times by `rice` with a step of 1 ms and k = 0, x by `delta`, y by `plain`, z by `constant`."""
    columns = bytes([2, 1, 0, 5])
    head = struct.pack("<BBHIQQQQIHH", 1, 1, 0, 1, 1, 0, NODE_TIME, 0, 2, 4, 4) + columns
    first, step = zigzag(-4_000_000), zigzag(1_000_000)
    times = varint(first) + varint(step) + bytes([0]) + bytes([0])
    x = varint(zigzag(7)) + varint(1 * 4 + 1) + varint(0) + varint(zigzag(-300))
    start = len(head) + len(times) + len(x)
    y = bytes(-start % 2) + struct.pack("<4h", 0, -1, 256, -32768)
    return head + times + x + y + varint(zigzag(5))


def zigzag(value: int) -> int:
    return (value << 1) ^ (value >> 63)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def frame(name: str, kind: int, number: int, session: int, body: bytes, fields: dict) -> dict:
    bytes_ = link.encode(link.Frame(kind, number, session, body)).hex()
    head = {"kind": kind, "number": number, "session": session}
    return {"name": name, **head, "body": body.hex(), "fields": fields, "bytes": bytes_}


def main() -> None:
    instance = {
        "type": str(MOTOR),
        "schema_crc": zlib.crc32(TEXT),
        "schema_length": len(TEXT),
        "kind": 0,
        "enabled": True,
    }
    instance |= {"millihertz": 1_000_000, "ended": "41", "name": "motor"}
    announced = {"version": 1, "started": True, "starts": 3, "name": "pump 7", "software": "demo 1.0"}
    samples = [
        {"time": str(NODE_TIME + (at - 4) * 1_000_000), "values": [str(value) for value in row]}
        for at, row in enumerate([(7, 0, 5), (7, -1, 5), (8, 256, 5), (-292, -32768, 5)])
    ]
    batch_ = {
        "topic": 1,
        "first_sequence": "1",
        "node_time": str(NODE_TIME),
        "dropped_before": 2,
        "samples": samples,
    }
    command = {"id": 9, "instance": 0, "command": 1, "argument": 250_000}
    frames = [
        frame(
            "a restart is announced",
            link.ANNOUNCE,
            0,
            SESSION,
            announce(),
            announced | {"instances": [instance]},
        ),
        frame("a batch", link.BATCH, 17, SESSION, batch(), batch_),
        frame("a command", link.COMMAND, 255, SESSION, struct.pack("<IBBI", 9, 0, 1, 250_000), command),
    ]
    good = bytes.fromhex(frames[2]["bytes"])
    damaged = {
        "a flipped bit": bytes([*good[:5], good[5] ^ 4, *good[6:]]),
        "a byte that was dropped": good[:7] + good[8:],
        "too short": link.stuff(b"\x22\x00\x00\x00") + b"\0",
        "a block that ends after the frame": b"\x09\x01\x02\x00",
    }
    document = {
        "schema": SCHEMA,
        "frames": frames,
        "damaged": [{"name": name, "bytes": bytes_.hex()} for name, bytes_ in damaged.items()],
    }
    (ROOT / "vectors/embedded-link.json").write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
