#!/usr/bin/env python3
"""Sends calls of gRPC that are good or bad: calls.py HOST:PORT [--token TOKEN] [--ca FILE] [--rate]. `make table-readers` installs grpcio.

Prints a JSON object: the code of the status of each call, by its name. With --rate it sends the same call until one is refused, and prints whether the
status says when to repeat it.
"""

import argparse
import json

import grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest as Request
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse as Response

SERVICES = "/opentelemetry.proto.collector"
METRICS = f"{SERVICES}.metrics.v1.MetricsService/Export"
TIMEOUT_SECONDS = 60
MAX_CALLS = 1_000
MAX_MESSAGE_BYTES = 8 << 20
RETRY_INFO = b"type.googleapis.com/google.rpc.RetryInfo"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("address")
    arguments.add_argument("--token")
    arguments.add_argument("--ca")
    arguments.add_argument("--rate", action="store_true")
    given = arguments.parse_args()
    metadata = [("authorization", f"Bearer {given.token}")] if given.token else []
    options = [("grpc.max_send_message_length", -1)]
    if given.ca:
        with open(given.ca, "rb") as file:
            channel = grpc.secure_channel(given.address, grpc.ssl_channel_credentials(file.read()), options)
    else:
        channel = grpc.insecure_channel(given.address, options)

    def call(method, message, compression=grpc.Compression.NoCompression):
        try:
            send = channel.unary_unary(method)
            answer = send(message, timeout=TIMEOUT_SECONDS, metadata=metadata, compression=compression)
            return "OK", answer, b""
        except grpc.RpcError as error:
            details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
            return error.code().name, error.details(), details

    with channel:
        print(json.dumps(find_rate(call) if given.rate else send_all(call)))


def send_all(call):
    gzip = grpc.Compression.Gzip
    partial, answer, _ = call(METRICS, two_points().SerializeToString(), gzip)
    if partial == "OK":
        partial = f"OK, {Response.FromString(answer).partial_success.rejected_data_points} rejected"
    calls = {
        "metrics": (METRICS, b""),
        "logs": (f"{SERVICES}.logs.v1.LogsService/Export", b""),
        "traces": (f"{SERVICES}.trace.v1.TraceService/Export", b""),
        "gzip": (METRICS, b"", gzip),
        "other method": (METRICS.replace("Export", "Import"), b""),
        "path of HTTP": ("/v1/metrics", b""),
        "other encoding": (METRICS, b"x" * 1_000, grpc.Compression.Deflate),
        "no message of OTLP": (METRICS, b"\x0b"),
        "too long": (METRICS, bytes(MAX_MESSAGE_BYTES + 1)),
        "bomb": (METRICS, bytes(40 << 20), gzip),
    }
    return {"two points": partial} | {name: call(*arguments)[0] for name, arguments in calls.items()}


def two_points():
    """Returns a request with a data point that is taken, and one whose name is too long."""
    request = Request()
    of_resource = request.resource_metrics.add()
    service = of_resource.resource.attributes.add()
    service.key, service.value.string_value = "service.name", "pump"
    scope = of_resource.scope_metrics.add()
    for name in ("level", "x" * 2_000):
        metric = scope.metrics.add()
        metric.name = name
        point = metric.gauge.data_points.add()
        point.time_unix_nano, point.as_int = 1, 1
    return request


def find_rate(call):
    for _ in range(MAX_CALLS):
        code, _, details = call(METRICS, b"")
        if code != "OK":
            return {"code": code, "has_retry_info": RETRY_INFO in details}
    raise AssertionError(f"{MAX_CALLS} calls without a refusal")


main()
