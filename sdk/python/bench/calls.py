"""What calls cost: samples as arrays beside samples as objects, a log record beside what the standard library does with it.

    python bench/calls.py

Figures are processor time of the calling thread: the median of seven runs, with the least and the greatest. The package must be built with optimization: `pip install ./sdk/python`.
"""

from __future__ import annotations

import io
import logging
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import numpy as np

import oasis
from oasis import arrays, batch
from oasis.logging import Handler
from oasis.node import Node, NodeBuilder
from oasis.watch import MAX_WATCHES

sys.path.insert(0, str(Path(__file__).parents[3] / "crates/pdl-gen/tests/shapes"))

from shapes import Words

CALLS = 1_000
# Nothing is dropped, which would be cheaper.
ROOM = 64 << 20
NOWHERE = "127.0.0.1:1"


def measure(what: str, thousand_calls: Callable[[], object]) -> float:
    """Print what one of a thousand costs, and answer with it."""
    least, *_, median, _, _, greatest = sorted(
        timeit.repeat(thousand_calls, timer=time.thread_time, number=1, repeat=7)
    )
    print(f"{what}: {median * 1e3:.2f} us ({least * 1e3:.2f} to {greatest * 1e3:.2f})")
    return median


def log_with(handler: logging.Handler) -> Callable[[], None]:
    """Log through this handler alone."""
    logger = logging.Logger("bench")
    logger.addHandler(handler)

    def log() -> None:
        for number in range(CALLS):
            logger.info("pressure is %s", number)

    return log


def watch(node: Node) -> None:
    """Measure `oasis.watch`, beside the same metrics of a class."""

    @oasis.probe
    class Motor:
        rpm: int
        temperature: float
        running: bool

    # A sample that finds no room costs less: one burst for each ring of 64 KiB.
    names = iter(f"motor {number}" for number in range(MAX_WATCHES))
    motors = iter([node.pushed(f"class {number}", Motor) for number in range(7)])

    def watched() -> None:
        name = next(names)
        for number in range(CALLS):
            oasis.watch(name, rpm=number, temperature=21.5, running=True)

    def flushed() -> None:
        motor = next(motors)
        for number in range(CALLS):
            motor.flush(Motor(number, 21.5, True))

    measure("watch three values", watched)
    measure("make and flush an object of a class", flushed)


def main() -> None:
    """Measure everything."""
    builder = NodeBuilder("bench")
    probe = builder.pushed("words", Words, ring_bytes=ROOM)
    handler = Handler(builder, ring_bytes=ROOM)
    builder.spans(ring_bytes=ROOM)
    samples = [Words(class_=number, operator=-number) for number in range(CALLS)]
    array = np.frombuffer(b"".join(sample.to_row() for sample in samples), arrays.dtype(Words))
    made = batch.encode(Words, list(enumerate(samples)), first_sequence=1, node_time=0)

    def flush_objects() -> None:
        for sample in samples:
            probe.flush(sample)

    def spans() -> None:
        for _ in range(CALLS):
            with oasis.span("step"):
                pass

    with builder.start(NOWHERE) as node:
        one = measure("flush a sample as an object", flush_objects)
        print(f"  times {one / measure('flush it in an array', lambda: probe.flush_arrays(array)):.0f}")
        one = measure("read a sample of a batch as an object", lambda: batch.decode(Words, made))
        print(f"  times {one / measure('read it in an array', lambda: batch.decode_arrays(Words, made)):.0f}")
        measure("log with nothing", log_with(logging.NullHandler()))
        measure("log to memory", log_with(logging.StreamHandler(io.StringIO())))
        measure("log to OASIS", log_with(handler))
        measure("a span", spans)
        watch(node)


if __name__ == "__main__":
    main()
