"""A motor, a hundred times a second."""

import math
import sys
import time

import oasis.node
from probes import Mode, Motor


def main() -> None:
    oasis.node.log()  # the node says on standard error what keeps it from the DAC
    builder = oasis.node.NodeBuilder("@name@")
    probe = builder.pushed("motor", Motor)
    with builder.start(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7071"):
        print("@name@ runs; Ctrl-C ends it.", flush=True)
        turn = 0
        while True:
            seconds = turn / 100
            # Never waits: if the ring is full, the sample is dropped and counted.
            probe.flush(
                Motor(
                    speed=3000 + 500 * math.sin(seconds),
                    temperature=70 + 15 * math.sin(seconds / 10),
                    mode=Mode.RUNNING,
                )
            )
            turn += 1
            time.sleep(0.01)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
