"""A motor, a hundred times a second."""

import math
import sys
import time

import oasis.node
from probes import Mode, Motor


def main() -> None:
    oasis.node.log()  # the node says on standard error what keeps it from the DAC
    # The variables OASIS_DAC and OASIS_CONFIG name another DAC, or a file with all settings.
    builder = oasis.node.NodeBuilder(default_name="@name@")
    probe = builder.pushed("motor", Motor)
    with builder.start(*sys.argv[1:2]):
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
