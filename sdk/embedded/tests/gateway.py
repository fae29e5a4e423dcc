"""The gateway's account of a device, as docs/reference/embedded.md describes it. For tests: the product is `oasis node`."""

import json
import struct
import zlib
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import batch
import link


@dataclass
class Account:
    """The sequence numbers of an instance in a session: those up to `last` were received or declared."""

    last: int = 0
    received: int = 0
    sent_before: int = 0
    taken: int = 0
    causes: Counter = field(default_factory=Counter)
    samples: list[tuple[int, list]] = field(default_factory=list)

    def declare(self, up_to: int, cause: str) -> None:
        if up_to > self.last:
            self.causes[cause] += up_to - self.last
            self.last = up_to


@dataclass
class Session:
    """One life of the device."""

    number: int
    # Session and number of starts of the announcement that it answers.
    origin: tuple[int, int]
    accounts: list[Account]
    # Last numbers of the session before, or of starts that were never accepted.
    ended_before: list[int] = field(default_factory=list)
    # Whether the device told how it ended; if not, samples after `taken` are unknown.
    is_end_known: bool | None = None


class Gateway:
    """Takes the frames of a device and answers them."""

    def __init__(self, seed: int, epoch_ns: int) -> None:
        self.random = Random(seed)
        self.epoch_ns = epoch_ns
        self.receiver = link.Receiver()
        self.schemas: dict[tuple[bytes, int], dict] = {}
        self.texts: dict[int, bytes] = {}
        self.instances: list[dict] = []
        self.sessions: list[Session] = []
        self.offered: Session | None = None
        self.announced: dict | None = None
        self.results: dict[int, tuple[int, bool, int]] = {}
        self.number = 0
        self.out = bytearray()
        self.now_ns = 0

    def frame(self, kind: int, session: int, body: bytes) -> None:
        self.out += link.encode(link.Frame(kind, self.number & 255, session, body))
        self.number += 1

    def feed(self, data: bytes, now_ns: int) -> bytes:
        """Takes bytes, and returns the answer."""
        self.now_ns = now_ns
        self.out = bytearray()
        for frame in self.receiver.feed(data):
            self.on_frame(frame)
        return bytes(self.out)

    def on_frame(self, frame: link.Frame) -> None:
        if self.offered and frame.session == self.offered.number:
            self.begin_offered()
        if frame.kind == link.ANNOUNCE:
            self.on_announce(frame)
        elif frame.kind == link.SCHEMA:
            self.on_schema(frame)
        elif not self.sessions or frame.session != self.sessions[-1].number:
            self.frame(link.ASK_ANNOUNCE, frame.session, b"")
        else:
            session = self.sessions[-1]
            if frame.kind == link.BATCH:
                self.on_batch(session, frame.body)
            elif frame.kind == link.COUNTERS:
                self.on_counters(session, frame.body)
            elif frame.kind == link.TIME_REQUEST:
                self.frame(
                    link.TIME, frame.session, frame.body[:8] + struct.pack("<Q", self.epoch_ns + self.now_ns)
                )
            elif frame.kind == link.RESULT:
                id_, outcome, is_enabled, rate = struct.unpack("<IBBI", frame.body[:10])
                self.results[id_] = (outcome, bool(is_enabled), rate)

    def on_announce(self, frame: link.Frame) -> None:
        self.announced = {"session": frame.session, **parse_announcement(frame.body)}
        self.instances = self.announced["instances"]
        self.texts = {at: text for at, text in self.texts.items() if at < len(self.instances)}
        self.ask_or_accept()

    def ask_or_accept(self) -> None:
        announced = self.announced
        for at, instance in enumerate(self.instances):
            if (instance["type"], instance["crc"]) not in self.schemas:
                offset = len(self.texts.get(at, b""))
                self.frame(link.ASK_SCHEMA, announced["session"], struct.pack("<BH", at, offset))
                return
        session = self.session_of(announced)
        self.frame(link.ACCEPT, announced["session"], struct.pack("<II", session, announced["starts"]))

    def on_schema(self, frame: link.Frame) -> None:
        at, offset, total = struct.unpack("<BHH", frame.body[:5])
        known = self.texts.get(at, b"")
        if at >= len(self.instances) or offset != len(known):
            return
        text = self.texts[at] = known + frame.body[5:]
        if len(text) >= total:
            instance = self.instances[at]
            del self.texts[at]
            if zlib.crc32(text) == instance["crc"]:
                self.schemas[instance["type"], instance["crc"]] = json.loads(text)
        self.ask_or_accept()

    def session_of(self, announced: dict) -> int:
        """The session that answers an announcement."""
        current = self.current()
        if current and announced["session"] == current.number and not announced["has_started"]:
            return current.number
        origin = (announced["session"], announced["starts"])
        if not self.offered or self.offered.origin != origin:
            self.offered = Session(
                self.random.randrange(1, 1 << 32), origin, [Account() for _ in self.instances]
            )
        self.offered.ended_before = [instance["ended"] for instance in self.instances]
        return self.offered.number

    def begin_offered(self) -> None:
        """Settles the account of the session before."""
        current = self.current()
        offered, self.offered = self.offered, None
        self.sessions.append(offered)
        if current:
            current.is_end_known = offered.origin[0] == current.number
            for account, ended in zip(current.accounts, offered.ended_before, strict=True):
                account.declare(ended if current.is_end_known else account.taken, "node_restart")

    def current(self) -> Session | None:
        return self.sessions[-1] if self.sessions else None

    def on_batch(self, session: Session, body: bytes) -> None:
        topic = struct.unpack_from("<I", body, 4)[0]
        instance = self.instances[topic - 1]
        got = batch.decode(body, self.schemas[instance["type"], instance["crc"]])
        account = session.accounts[topic - 1]
        if got.first <= account.last:
            return
        account.declare(got.first - 1 - got.dropped_before, "network")
        account.declare(got.first - 1, "ring_full")
        account.last = got.first + got.count - 1
        account.taken = max(account.taken, account.last)
        account.received += got.count
        account.samples += enumerate(zip(*got.columns, strict=True), got.first)

    def on_counters(self, session: Session, body: bytes) -> None:
        for at, account in enumerate(session.accounts):
            taken, sent, _ = struct.unpack_from("<QQI", body, 20 * at)
            account.taken = max(account.taken, taken)
            account.declare(sent, "network")

    def command(self, id_: int, instance: int, command: int, argument: int = 0) -> bytes:
        self.out = bytearray()
        self.frame(
            link.COMMAND, self.sessions[-1].number, struct.pack("<IBBI", id_, instance, command, argument)
        )
        return bytes(self.out)


def parse_announcement(body: bytes) -> dict:
    version, flags, starts = struct.unpack_from("<BBI", body)
    assert version == 1
    name, at = text_at(body, 6)
    software, at = text_at(body, at)
    instances = []
    for _ in range(body[at]):
        type_ = body[at + 1 : at + 17]
        crc, length, kind, is_enabled, rate, ended = struct.unpack_from("<IHBBIQ", body, at + 17)
        instance_name, end = text_at(body, at + 37)
        at = end - 1
        instances.append(
            {"type": type_, "crc": crc, "length": length, "kind": kind, "is_enabled": bool(is_enabled)}
            | {"rate": rate, "ended": ended, "name": instance_name}
        )
    assert at + 1 == len(body)
    return {
        "has_started": bool(flags & 1),
        "starts": starts,
        "name": name,
        "software": software,
        "instances": instances,
    }


def text_at(body: bytes, at: int) -> tuple[str, int]:
    end = at + 1 + body[at]
    return body[at + 1 : end].decode(), end
