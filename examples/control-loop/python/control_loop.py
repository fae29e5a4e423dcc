"""The control loop in Python, at 1 kHz with a pushed probe. docs/sdk/python.md says how to run it."""

from __future__ import annotations

import math
import sys
import time

from loop import Axis, ControlLoop, Phase

from oasis.node import NodeBuilder

PERIOD = 0.001


def control(axes: list[Axis], seconds: float) -> None:
    """Move each axis a hundredth of its way to a target that jumps every few seconds."""
    for index, axis in enumerate(axes):
        axis.target = 90.0 * math.sin(seconds // (4.0 + index))
        axis.position += (axis.target - axis.position) * 0.01


def main() -> None:
    """Run until interrupted."""
    builder = NodeBuilder("machine-python")
    probe = builder.pushed("control loop", ControlLoop)
    axes = [Axis("azimuth"), Axis("elevation")]
    with builder.start(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7071"):
        started, turn = time.perf_counter(), 0
        while True:
            turn += 1
            due = started + PERIOD * turn
            time.sleep(max(0.0, due - time.perf_counter()))
            began = time.perf_counter()
            control(axes, began - started)
            tracking = all(abs(axis.position - axis.target) < 5.0 for axis in axes)
            # Never waits: if the node cannot keep up the sample is dropped and counted, and the loop continues.
            probe.flush(
                ControlLoop(
                    lateness=(began - due) * 1e6,
                    busy=(time.perf_counter() - began) * 1e6,
                    turns=turn,
                    phase=Phase.TRACKING if tracking else Phase.SLEWING,
                    axes=axes,
                )
            )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
