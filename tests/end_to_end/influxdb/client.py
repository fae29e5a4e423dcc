#!/usr/bin/env python3
"""Writes points with the official client of InfluxDB: client.py URL TOKEN. `make table-readers` installs it.

Prints what each field of each point must be in the archive, as JSON lines: [series, time, field, value].
"""

import json
import sys

from influxdb_client import InfluxDBClient, Point, WritePrecision
from influxdb_client.client.write_api import SYNCHRONOUS, WriteOptions

BEGIN = 1_700_000_000_000_000_000


def points():
    for index in range(200):
        time = BEGIN + index * 1_000_003
        point = Point("pump speed").tag("host", "hall-1").tag("pump", f"p{index % 2}").time(time, WritePrecision.NS)
        point.field("rpm", index * 0.1).field("starts", 2**53 + index).field("is_on", index % 3 == 0)
        if index % 10 == 0:
            point.field("note", f'"quoted" \\ back\nline {index} \u00e9')
        yield point, time, f"pump\\ speed,pump=p{index % 2}"


def main():
    url, token = sys.argv[1:]
    written = list(points())
    with InfluxDBClient(url=url, token=token, org="plant", enable_gzip=True) as client:
        assert client.ping()
        assert client.health().status == "pass", client.health()
        with client.write_api(write_options=SYNCHRONOUS) as write:
            for begin in range(0, 100, 20):
                write.write(bucket="plant", record=[point for point, _, _ in written[begin : begin + 20]])
        # Batches in the background, as programs use it.
        errors = []
        options = WriteOptions(batch_size=30, flush_interval=200)
        with client.write_api(options, error_callback=lambda *error: errors.append(error)) as write:
            for point, _, _ in written[100:]:
                write.write(bucket="plant", record=point)
        assert not errors, errors
    for point, time, series in written:
        for field, value in point._fields.items():
            print(json.dumps([series, time, field, value]))


main()
