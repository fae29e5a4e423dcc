#!/usr/bin/env python3
"""A vehicle that pymavlink writes the frames of: vehicle.py WHAT ARGUMENTS. `make table-readers` installs it.

    every OWN-PORT PORT     each message of the dialect, to a port of this host; prints the values
    numbers OWN-PORT PORT FIRST DROPPED...   HEARTBEATs and ATTITUDEs from a number on; drops as many as each argument says between them
    old OWN-PORT PORT       frames of version 1, and signed ones
    hostile OWN-PORT PORT   frames between noise, damaged and truncated ones, unknown messages, and many systems
    serve PORT              waits for a HEARTBEAT with mavutil, and answers
    serial                  prints the path of a pseudo terminal, and writes frames to it once a line arrives on standard input
"""

import json
import os
import pty
import random
import socket
import sys
import tty

from pymavlink import mavutil
from pymavlink.dialects.v10 import ardupilotmega as v1
from pymavlink.dialects.v20 import ardupilotmega as v2

LIMITS = {"int8_t": 8, "int16_t": 16, "int32_t": 32, "int64_t": 64}


class Vehicle:
    """Frames from a port of its own, so that one that restarts is the same peer."""

    def __init__(self, own: str, to: str, dialect=v2, system: int = 1):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", int(own)))
        self.to = ("127.0.0.1", int(to))
        self.mav = dialect.MAVLink(self, system, 1)

    def write(self, frame: bytes) -> None:
        self.socket.sendto(frame, self.to)


def heartbeat(dialect=v2):
    return dialect.MAVLink_heartbeat_message(2, 3, 0x51, 7, 4, 3)


def attitude(boot_ms: int):
    return v2.MAVLink_attitude_message(boot_ms, 0.5, -0.25, 0.125, 1.5, 2.5, 3.5)


def number(kind: str, chance: random.Random):
    if kind == "float":
        # Has the same digits in 32 and 64 bits.
        return chance.randint(-(2**18), 2**18) / 4
    if kind == "double":
        return chance.random()
    bits = LIMITS[kind.removeprefix("u")]
    return chance.randint(0, 2**bits - 1) if kind.startswith("u") else chance.randint(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def value(kind: str, elements: int, chance: random.Random):
    if kind == "char":
        text = "".join(chance.choice("abcdefgh XYZ0123") for _ in range(max(elements, 1)))
        # Some texts are shorter than their array, and one has another alphabet.
        text = text[: chance.randint(1, max(elements, 1))]
        return text.encode()
    return [number(kind, chance) for _ in range(elements)] if elements else number(kind, chance)


def every(own: str, to: str) -> None:
    vehicle, chance, sent = Vehicle(own, to), random.Random(7), {}
    frames: list[bytes] = []
    for identifier in sorted(v2.mavlink_map):
        message = v2.mavlink_map[identifier]
        if identifier < 0:
            continue
        lengths = dict(zip(message.ordered_fieldnames, message.array_lengths))
        values = {
            name: value(kind, lengths[name], chance) for name, kind in zip(message.fieldnames, message.fieldtypes)
        }
        if identifier == v2.MAVLINK_MSG_ID_HEARTBEAT:
            values["mavlink_version"] = 3
        elif "time_boot_ms" in values:
            # The clock of the vehicle advances.
            values["time_boot_ms"] = 1_000 + identifier
        frames.append(message(**values).pack(vehicle.mav))
        vehicle.mav.seq = (vehicle.mav.seq + 1) % 256
        is_text = dict(zip(message.fieldnames, message.fieldtypes))
        shown = {}
        for name, sent_value in values.items():
            if is_text[name] == "char":
                shown[name] = sent_value.decode() if lengths[name] else sent_value[0]
            else:
                shown[name] = sent_value
        sent[message.msgname] = shown
    # Several frames make a datagram, as autopilots do: the kernel drops datagrams beyond the buffer of a socket.
    for at in range(0, len(frames), 8):
        vehicle.write(b"".join(frames[at : at + 8]))
    json.dump(sent, sys.stdout)


def numbers(own: str, to: str, first: str, *dropped: str) -> None:
    vehicle = Vehicle(own, to)
    vehicle.mav.seq = int(first) % 256
    boot = 60_000 if int(first) else 100
    for count in ["0", *dropped]:
        vehicle.mav.seq = (vehicle.mav.seq + int(count)) % 256
        vehicle.mav.send(heartbeat())
        vehicle.mav.send(attitude(boot))
        boot += 50


def old(own: str, to: str) -> None:
    vehicle = Vehicle(own, to, v1)
    vehicle.mav.send(heartbeat(v1))
    vehicle.mav.send(v1.MAVLink_statustext_message(4, "caf\u00e9".encode()))
    frames = v2.MAVLink(vehicle, 1, 1)
    frames.seq = vehicle.mav.seq
    frames.signing.secret_key = bytes(range(32))
    frames.signing.link_id = 1
    frames.signing.timestamp = 1
    frames.signing.sign_outgoing = True
    frames.send(heartbeat())
    frames.send(attitude(100_000))


def hostile(own: str, to: str) -> None:
    vehicle, chance = Vehicle(own, to), random.Random(11)
    vehicle.mav.seq = 0

    def frame() -> bytes:
        packed = heartbeat().pack(vehicle.mav)
        vehicle.mav.seq = (vehicle.mav.seq + 1) % 256
        return packed

    def damaged() -> bytes:
        packed = bytearray(frame())
        packed[12] ^= 0xFF
        return bytes(packed)

    # Bytes of which some look like the beginning of a frame, in one stream of datagrams that are cut anywhere.
    noise = [bytes(chance.choice((0xFD, 0xFE, chance.randrange(256))) for _ in range(chance.randrange(40))) for _ in range(200)]
    stream = b"".join(noise_part + frame() for noise_part in noise)
    stream += damaged() + frame() + frame()[:14] + frame()
    # The rest of a frame with the greatest length arrives, so that nothing waits.
    stream += bytes(300)
    for at in range(0, len(stream), 100):
        vehicle.write(stream[at : at + 100])
    # A message that no dialect has, between two others.
    before = frame()
    unknown = bytearray(frame())
    unknown[7:10] = (70_000).to_bytes(3, "little")
    vehicle.write(before + bytes(unknown) + frame())
    flood = [heartbeat().pack(v2.MAVLink(None, system, 1)) for system in range(2, 256)]
    # Few datagrams: the kernel drops those beyond the buffer of a socket.
    for at in range(0, len(flood), 20):
        vehicle.write(b"".join(flood[at : at + 20]))
    print(json.dumps({"frames": 200 + 1 + 1 + 3}))


def serve(port: str) -> None:
    link = mavutil.mavlink_connection(f"udpin:127.0.0.1:{port}", dialect="ardupilotmega", source_system=9)
    found = link.recv_match(type="HEARTBEAT", blocking=True, timeout=30)
    print(json.dumps({"type": found.type, "system": found.get_srcSystem(), "component": found.get_srcComponent()}))
    link.mav.send(heartbeat())
    link.mav.send(attitude(500))


class Line:
    def __init__(self, terminal: int):
        self.terminal = terminal

    def write(self, frame: bytes) -> None:
        os.write(self.terminal, frame)


def serial() -> None:
    terminal, other = pty.openpty()
    tty.setraw(other)
    print(os.ttyname(other), flush=True)
    sys.stdin.readline()
    mav = v2.MAVLink(Line(terminal), 4, 1)
    os.write(terminal, b"boot loader 1.0\r\n\xfd\xfe")
    for at in range(50):
        mav.send(heartbeat())
        mav.send(attitude(at * 20))
    # The line stays open until its reader is done.
    sys.stdin.readline()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
