"""Compares `oasis import` with the readers that people use, over the same files: CSV, MCAP in JSON and in CDR, ULog.

    cargo build --release --locked --package oasis --features site
    python3 -m venv /tmp/speed && /tmp/speed/bin/pip install mcap==1.6.0 mcap-ros2-support==0.6.0 pandas==3.1.1 pyulog==1.3.0
    /tmp/speed/bin/python lab/import/import_speed.py --oasis target/release/oasis [--ulog flight.ulg]

Each reader takes all values of a file into memory; OASIS writes them to an archive and syncs it, so it does more. The order of the readers
alternates. The table has the median and the range of the rounds.
"""

import argparse
import json
import math
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

COLUMNS = 8


def make_csv(path, rows):
    """Writes a table of reals at 100 Hz, and returns its number of values."""
    with open(path, "w") as out:
        out.write("time," + ",".join(f"x{column} [m]" for column in range(COLUMNS)) + "\n")
        for row in range(rows):
            values = (f"{math.sin(row / 100 + column):.9f}" for column in range(COLUMNS))
            out.write(f"{1_700_000_000 + row / 100:.2f}," + ",".join(values) + "\n")
    return rows * COLUMNS


def make_ulog(path, messages):
    """Writes a log with topics of the sizes and rates of PX4: 1 kHz, 250 Hz and 50 Hz."""
    topics = {
        "sensor_combined": ("float[3] gyro_rad;uint32_t gyro_dt;float[3] accelerometer;uint32_t accel_dt;", "<3fI3fI", 1),
        "vehicle_attitude": ("uint64_t timestamp_sample;float[4] q;float[4] delta_q;uint8_t resets;uint8_t[7] _padding0;", "<Q8fB", 4),
        "vehicle_local_position": ("double x;double y;" + "".join(f"float v{at};" for at in range(20)), "<2d20f", 20),
    }

    def message(kind, content):
        return struct.pack("<HB", len(content), ord(kind)) + content

    with open(path, "wb") as out:
        out.write(b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 1_000_000))
        out.write(message("B", bytes(40)))
        for name, (fields, _, _) in topics.items():
            out.write(message("F", f"{name}:uint64_t timestamp;{fields}".encode()))
        for number, name in enumerate(topics):
            out.write(message("A", struct.pack("<BH", 0, number) + name.encode()))
        for tick in range(messages):
            time_us = 1_000_000 + tick * 1000
            for number, (_, form, every) in enumerate(topics.values()):
                if tick % every == 0:
                    values = [
                        number if letter in "QIB" else math.sin(tick / 1000 + at) for at, letter in enumerate(letters_of(form))
                    ]
                    out.write(message("D", struct.pack("<HQ", number, time_us) + struct.pack(form, *values)))


def letters_of(form):
    """The letter of each value of a format of `struct`."""
    letters, count = [], ""
    for letter in form[1:]:
        if letter.isdigit():
            count += letter
        else:
            letters += [letter] * int(count or 1)
            count = ""
    return letters


def read_with_pandas(path):
    import pandas

    pandas.read_csv(path)


def read_with_mcap(path):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        encodings = {channel.message_encoding for channel in reader.get_summary().channels.values()}
        if "cdr" in encodings:
            for _ in reader.iter_decoded_messages(log_time_order=False):
                pass
        else:
            for _, _, message in reader.iter_messages(log_time_order=False):
                json.loads(message.data)


def read_with_pyulog(path):
    from pyulog import ULog

    ULog(str(path))


def run(oasis, verb, archive, *arguments):
    command = [oasis, verb, "--archive", archive, *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def shown(times, size):
    rates = [size / 1e6 / of for of in times]
    return f"{statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f}), {statistics.median(rates):.1f} MB/s"


def compare(oasis, folder, path, rival, rounds):
    """Measures both readers of a file, in alternating order."""
    ours, theirs = [], []
    # Loads the library, and the file into the cache of the system.
    rival(path)
    for number in range(rounds):
        archive = folder / f"of-{path.name}"

        def import_file():
            run(oasis, "import", archive, path)

        steps = [(ours, import_file), (theirs, lambda: rival(path))]
        for times, call in steps if number % 2 == 0 else reversed(steps):
            times.append(seconds(call))
        shutil.rmtree(archive)
    size = path.stat().st_size
    name = rival.__name__.removeprefix("read_with_")
    print(f"{path.name} ({size / 1e6:.1f} MB): oasis {shown(ours, size)}; {name} {shown(theirs, size)}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--oasis", required=True, help="the program")
    arguments.add_argument("--rows", type=int, default=500_000, help="rows of the table, and milliseconds of the log")
    arguments.add_argument("--rounds", type=int, default=5, help="measurements of each reader")
    arguments.add_argument("--ulog", type=Path, help="a log of PX4 besides the one that is made")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, source = folder / "table.csv", folder / "source"
        make_csv(table, given.rows)
        run(given.oasis, "import", source, table)
        compare(given.oasis, folder, table, read_with_pandas, given.rounds)
        for encoding in ["json", "cdr"]:
            path = folder / f"{encoding}.mcap"
            run(given.oasis, "export", source, "--encoding", encoding, "-o", path)
            compare(given.oasis, folder, path, read_with_mcap, given.rounds)
        log = folder / "flight.ulg"
        make_ulog(log, given.rows)
        for path in [log, *([given.ulog] if given.ulog else [])]:
            compare(given.oasis, folder, path, read_with_pyulog, given.rounds)


main()
