#!/usr/bin/env python3
"""Sends frames as a CAN bus does, and prints the values that cantools decodes: bus.py TARGET DBC LOG. `make table-readers` installs it.

TARGET is an interface, or the path of a Unix socket. LOG is a log of candump, whose frames are sent in their order.
"""

import json
import re
import socket
import struct
import sys

import cantools

LINE = re.compile(r"\(\S+\) \S+ ([0-9A-F]+)#(#([0-9A-F]))?([0-9A-F]*)")
EXTENDED_FLAG = 0x80000000


def opened(target: str):
    """The socket, and a function that sends through it."""
    if "/" not in target:
        bus = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
        bus.setsockopt(socket.SOL_CAN_RAW, socket.CAN_RAW_FD_FRAMES, 1)
        bus.bind((target,))
        return bus.send
    bus = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    bus.connect(target)
    return bus.send


def shown(value):
    """Names of values as their numbers: those are on the wire."""
    return getattr(value, "value", value)


def main() -> None:
    target, database, log = sys.argv[1:]
    send = opened(target)
    known = cantools.database.load_file(database, strict=False)
    messages = {(message.frame_id, message.is_extended_frame): message for message in known.messages}
    values, frames = {}, 0
    with open(log, encoding="ascii") as lines:
        for line in lines:
            found = LINE.match(line)
            if not found or "R" in line.split("#")[-1]:
                continue
            identifier, is_fd, flags, digits = found.groups()
            data, is_extended = bytes.fromhex(digits), len(identifier) == 8
            number = int(identifier, 16)
            head = number | EXTENDED_FLAG if is_extended else number
            size = 64 if is_fd else 8
            send(struct.pack("=IBBBB", head, len(data), int(flags or "0", 16), 0, 0) + data.ljust(size, b"\0"))
            frames += 1
            message = messages.get((number, is_extended))
            if message is None or not message.signals:
                continue
            try:
                decoded = message.decode(data, decode_choices=False)
            except Exception:  # A frame that is too short, or selects no signal.
                decoded = None
            values.setdefault(message.name, []).append(decoded and {name: shown(one) for name, one in decoded.items()})
    json.dump({"frames": frames, "values": values}, sys.stdout)


if __name__ == "__main__":
    main()
