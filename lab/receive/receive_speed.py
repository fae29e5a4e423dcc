"""Compares the receivers of OASIS with those that people use: OTLP beside the OpenTelemetry Collector, line protocol beside Telegraf.

    cargo build --release --locked --package oasis --features site
    python3 lab/receive/receive_speed.py --oasis target/release/oasis --collector otelcol --telegraf telegraf

Each receiver has the first core, the sender the second one. The rivals have receivers alone, and throw away what they receive: `otlp` and `nop` of the
Collector, `influxdb_listener` and `discard` of Telegraf. OASIS numbers each value; it is measured without an archive and with one that stores before it
answers. OTLP is measured over HTTP and over gRPC, which needs grpcio. The order of the receivers alternates. The table has medians and ranges of the rounds: data points a second of time, and of processor time.
"""

import argparse
import http.client
import os
import socket
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

SERIES, POINTS, FIELDS = 100, 5_000, 10
START_NS = 1_700_000_000_000_000_000
TICKS = os.sysconf("SC_CLK_TCK")
# Seconds between two attempts to connect.
CONNECT_INTERVAL = 0.05


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def attribute(key, value):
    return field(1, key.encode()) + field(2, field(1, value.encode()))


def otlp(request):
    """Returns a request with the points of a sum: two attributes each, as the Collector sends them."""
    points = [b"\x10\x02\x18\x01"]
    for number in range(request * POINTS, (request + 1) * POINTS):
        point = b"\x11" + struct.pack("<Q", START_NS) + b"\x19" + struct.pack("<Q", START_NS + number * 1_000)
        point += b"\x21" + struct.pack("<d", number * 0.1)
        point += field(7, attribute("cpu", f"cpu{number % SERIES}")) + field(7, attribute("state", "idle"))
        points.append(field(1, point))
    metric = field(1, b"system.cpu.time") + field(3, b"s") + field(7, b"".join(points))
    resource = field(1, field(1, attribute("service.name", "host-1")))
    return field(1, resource + field(2, field(2, metric)))


def lines(request):
    """Returns a request with points of ten fields, as Telegraf sends them."""
    out = []
    for number in range(request * POINTS, (request + 1) * POINTS):
        series, time_ns = number % SERIES, START_NS + number * 1_000
        fields = ",".join(f"usage_{at}={number % 97}.{at}" for at in range(FIELDS))
        out.append(f"cpu,cpu=cpu{series % 10},host=host-{series // 10} {fields} {time_ns}\n")
    return "".join(out).encode()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Receiver:
    """A process on the first core that takes requests of one protocol."""

    def __init__(self, command, port, folder):
        self.port = port
        self.log = open(folder / f"{Path(command[0]).name}.log", "ab")
        self.process = subprocess.Popen(["taskset", "-c", "0", *command], stdout=self.log, stderr=self.log, cwd=folder)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline or self.has_ended_within(CONNECT_INTERVAL):
                    raise SystemExit(f"{command[0]} does not listen: see {self.log.name}") from None

    def has_ended_within(self, seconds):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def processor_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def oasis(program, folder, archive, is_grpc=False):
    def start():
        port = free_port()
        config = folder / "oasis.toml"
        grpc_listen = f'grpc_listen = "127.0.0.1:{port}"\n' if is_grpc else ""
        config.write_text(f"[otlp]\nenabled = true\n{grpc_listen}[influxdb]\nenabled = true\n")
        page = 0 if is_grpc else port
        command = [program, "dac", "--listen", f"127.0.0.1:{page}", "--channel-listen", "127.0.0.1:0", "--config", str(config)]
        # Each run has an archive of its own.
        command += ["--archive", tempfile.mkdtemp(dir=folder)] if archive else []
        return Receiver(command, port, folder)

    return start


def collector(program, folder, protocol):
    def start():
        port = free_port()
        config = folder / "collector.yaml"
        pipelines = "service:\n  telemetry: {metrics: {level: none}}\n  pipelines: {metrics: {receivers: [otlp], exporters: [nop]}}\n"
        receivers = f"receivers: {{otlp: {{protocols: {{{protocol}: {{endpoint: '127.0.0.1:{port}'}}}}}}}}\nexporters: {{nop: {{}}}}\n"
        config.write_text(receivers + pipelines)
        return Receiver([program, "--config", f"file:{config}"], port, folder)

    return start


def telegraf(program, folder):
    def start():
        port = free_port()
        config = folder / "telegraf.conf"
        # The buffer has room for all points between two flushes.
        agent = "[agent]\nmetric_buffer_limit = 1000000\nmetric_batch_size = 100000\nflush_interval = '1s'\nomit_hostname = true\nquiet = true\n"
        inputs = f"[[inputs.influxdb_listener]]\nservice_address = '127.0.0.1:{port}'\n"
        config.write_text(agent + inputs + "[[outputs.discard]]\n")
        return Receiver([program, "--config", str(config)], port, folder)

    return start


def over_http(path, headers):
    """Returns a function that connects to a port, and returns one that sends a body there."""

    def connect(port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

        def send(body):
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status not in (200, 204):
                raise SystemExit(f"{path}: {answer.status} {text[:300]}")

        return send

    return connect


def over_grpc(port):
    """Returns a function that sends a message of metrics to a port; a status other than OK is an exception."""
    import grpc

    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    return channel.unary_unary("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export")


def measure(start, connect, bodies):
    """Sends all bodies on one connection. Returns the seconds, and those of the receiver's processor."""
    receiver = start()
    try:
        send = connect(receiver.port)
        # The first request makes the series.
        send(bodies[0])
        began, used = time.perf_counter(), receiver.processor_seconds()
        for body in bodies[1:]:
            send(body)
        return time.perf_counter() - began, receiver.processor_seconds() - used
    finally:
        receiver.stop()


def compare(what, connect, bodies, receivers, rounds):
    times = {name: [] for name in receivers}
    for number in range(rounds):
        names = list(receivers) if number % 2 == 0 else list(reversed(receivers))
        for name in names:
            times[name].append(measure(receivers[name], connect, bodies))
    points = (len(bodies) - 1) * POINTS
    for name, runs in times.items():
        by_time, by_processor = ([points / run[at] / 1e3 for run in runs] for at in (0, 1))
        print(f"| {what} | {name} | {shown(by_time)} | {shown(by_processor)} |", flush=True)


def shown(rates):
    return f"{statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--oasis", required=True, help="the program, built with the features otlp and influxdb")
    arguments.add_argument("--collector", help="a Collector of OpenTelemetry with the receiver otlp and the exporter nop")
    arguments.add_argument("--telegraf", help="Telegraf with inputs.influxdb_listener and outputs.discard")
    arguments.add_argument("--requests", type=int, default=200, help="requests of each run, 5,000 points each")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    programs = {name: str(Path(program).resolve()) for name, program in vars(given).items() if isinstance(program, str)}
    os.sched_setaffinity(0, {1})
    print("| protocol | receiver | 1,000 points/s | 1,000 points a second of processor |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = {"OASIS": oasis(programs["oasis"], folder, False), "OASIS, stored": oasis(programs["oasis"], folder, True)}
        bodies = [otlp(at) for at in range(given.requests)]
        protobuf = {"Content-Type": "application/x-protobuf"}
        rival = {"Collector": collector(programs["collector"], folder, "http")} if given.collector else {}
        compare("OTLP over HTTP", over_http("/v1/metrics", protobuf), bodies, ours | rival, given.rounds)
        called = {
            "OASIS": oasis(programs["oasis"], folder, False, True),
            "OASIS, stored": oasis(programs["oasis"], folder, True, True),
        }
        rival = {"Collector": collector(programs["collector"], folder, "grpc")} if given.collector else {}
        compare("OTLP over gRPC", over_grpc, bodies, called | rival, given.rounds)
        rival = {"Telegraf": telegraf(programs["telegraf"], folder)} if given.telegraf else {}
        bodies = [lines(at) for at in range(given.requests)]
        compare("line protocol", over_http("/write?db=b", {}), bodies, ours | rival, given.rounds)


if __name__ == "__main__":
    main()
