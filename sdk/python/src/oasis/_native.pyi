"""The native part, made of crates/python. Use `oasis.node` and `oasis.batch` instead."""

import os
from collections.abc import Callable, Sequence

class ForkedError(RuntimeError): ...

class NodeBuilder:
    def __init__(
        self,
        name: str | None = None,
        config: str | os.PathLike[str] | None = None,
        tem: str | None = None,
        dac_name: str | None = None,
        default_name: str | None = None,
        child: bool = False,
    ) -> None: ...
    def pushed(
        self,
        instance: str,
        schema: str,
        kind: str | dict[str, float],
        ring_bytes: int,
        overflow: str | float,
    ) -> PushedProbe: ...
    def record(
        self, instance: str, before: float, after: float, memory_bytes: int, triggers: Sequence[str]
    ) -> None: ...
    def importance(self, instance: str, importance: int) -> None: ...
    def periodic(self, instance: str, schema: str, hertz: float, sample: Callable[[], bytes]) -> None: ...
    def start(self, dac: str | None = None, on_refusal: Callable[[str, str], None] | None = None) -> Node: ...

def declared_schema(json: str) -> str: ...

class PushedProbe:
    def set_state(self, state: int) -> None: ...
    def flush(self, row: bytes, time: int | None = None) -> bool: ...
    def has_ended(self) -> bool: ...
    def max_row_bytes(self) -> int: ...
    def flush_rows(self, rows: bytes, count: int, times: bytes | None = None) -> int: ...

class Logger:
    def __init__(self, builder: NodeBuilder, instance: str, ring_bytes: int) -> None: ...
    def is_enabled(self) -> bool: ...
    def log(
        self,
        time: int,
        severity: int,
        target: str,
        message: str,
        file: str,
        line: int,
        thread: str,
        span: str,
        fields: list[tuple[str, str]],
    ) -> None: ...

class Spans:
    def __init__(self, builder: NodeBuilder, instance: str, ring_bytes: int) -> None: ...
    def is_enabled(self) -> bool: ...
    def ended(
        self,
        time: int,
        name: str,
        target: str,
        duration: int,
        failed: bool,
        thread: str,
        number: int,
        parent: int,
        fields: list[tuple[str, str]],
    ) -> None: ...

class Node:
    def pushed(
        self,
        instance: str,
        schema: str,
        kind: str | dict[str, float],
        ring_bytes: int,
        overflow: str | float,
    ) -> PushedProbe: ...
    def is_forked(self) -> bool: ...
    def shutdown(self) -> None: ...

def at_termination(finish: Callable[[], None]) -> bool: ...
def end_at_once() -> None: ...
def now() -> int: ...
def log(wanted: str) -> None: ...
def encode_batch(
    schema: str,
    samples: list[tuple[int, bytes]],
    *,
    topic: int,
    state: int,
    first_sequence: int,
    node_time: int,
    dropped_before: int,
) -> bytes: ...
def decode_batch(schema: str, batch: bytes) -> list[tuple[int, int, bytes]]: ...
def decode_rows(schema: str, batch: bytes, metrics: list[int]) -> tuple[int, bytes, bytes, bytes]: ...
