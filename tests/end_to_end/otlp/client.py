#!/usr/bin/env python3
"""Sends metrics, logs and traces with the SDK of OpenTelemetry: client.py URL [HOST:PORT]. `make table-readers` installs it.

With HOST:PORT the SDK sends there over gRPC, else to URL over HTTP. Prints what each sample must be in the archive, as JSON lines: [instance, time, columns]. The expected values are those of the objects that the SDK
gives its exporters. Each request is also sent as JSON, which Python's Protocol Buffers write, for the service `json`.
"""

import base64
import json
import logging
import sys
import urllib.request
from urllib.error import HTTPError

import grpc
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common._internal.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.grpc import _log_exporter as grpc_logs
from opentelemetry.exporter.otlp.proto.grpc import metric_exporter as grpc_metrics
from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as grpc_traces
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http import _log_exporter as http_logs
from opentelemetry.exporter.otlp.proto.http import metric_exporter as http_metrics
from opentelemetry.exporter.otlp.proto.http import trace_exporter as http_traces
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

ROUNDS = 20
MAX_ATTEMPTS = 15
MAX_SQL_INTEGER = 2**63 - 1
LEVELS = {5: "DEBUG", 9: "INFO", 13: "WARN", 17: "ERROR", 21: "FATAL"}


def main():
    url = sys.argv[1]
    resource = Resource({"service.name": "shop", "host.name": "hall-1"})
    for send in (send_metrics, send_logs, send_spans):
        send(url, resource)


def exporter(over_http, over_grpc, url, **of_http):
    """Returns the class of an exporter, and what it is made with. Over gRPC all messages are compressed."""
    if len(sys.argv) > 2:
        return over_grpc, {"endpoint": sys.argv[2], "insecure": True, "compression": grpc.Compression.Gzip}
    return over_http, {"endpoint": url, **of_http}


def expect(instance, time, **columns):
    # JSON lacks NaN; SQLite has no booleans.
    columns = {name: int(value) if isinstance(value, bool) else value for name, value in columns.items()}
    print(json.dumps([instance, time, columns]))


def send_as_json(url, message):
    """Sends a request as JSON (OTLP: enums as numbers, identifiers as hexadecimal digits)."""
    body = MessageToDict(message, use_integers_for_enums=True)
    change_for_json(body)
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    for _ in range(MAX_ATTEMPTS):
        try:
            with urllib.request.urlopen(request) as answer:
                assert json.load(answer) == {}, answer
                return
        except HTTPError as error:
            # The archive of a busy machine takes longer than the DAC waits.
            if error.code != 503:
                raise
    raise AssertionError(f"503 after {MAX_ATTEMPTS} attempts")


def change_for_json(of):
    if isinstance(of, list):
        for element in of:
            change_for_json(element)
    elif isinstance(of, dict):
        for name, value in of.items():
            if name in ("traceId", "spanId", "parentSpanId"):
                of[name] = base64.b64decode(value).hex()
            elif name == "stringValue" and value == "shop":
                of[name] = "json"
            else:
                change_for_json(value)


def send_metrics(url, resource):
    sent = []
    over_http, over_grpc = http_metrics.OTLPMetricExporter, grpc_metrics.OTLPMetricExporter
    base, options = exporter(over_http, over_grpc, f"{url}/v1/metrics", compression=Compression.Gzip)

    class Exporter(base):
        def export(self, metrics_data, *arguments, **named):
            sent.append(metrics_data)
            return super().export(metrics_data, *arguments, **named)

    view = View(instrument_name="payload", aggregation=ExponentialBucketHistogramAggregation())
    reader = PeriodicExportingMetricReader(Exporter(**options), export_interval_millis=3_600_000)
    provider = MeterProvider([reader], resource, views=[view])
    meter = provider.get_meter("plant", "1.0")
    temperature = meter.create_gauge("temperature", "Cel", "Temperature of the pump")
    requests = meter.create_counter("requests", "{request}")
    energy = meter.create_counter("energy", "J")
    level = meter.create_up_down_counter("level")
    latency = meter.create_histogram("latency", "ms")
    payload = meter.create_histogram("payload", "By")
    for number in range(ROUNDS):
        temperature.set(20 + number * 0.1)
        for pump in range(2):
            attributes = {"pump": f"p{pump}", "is=odd": pump == 1}
            requests.add(2**40 + number, attributes)
            energy.add(number * 0.7, attributes)
            level.add((-1) ** number * number, attributes)
            latency.record(number * 37.5, attributes)
            payload.record(number * 1_000.25, attributes)
        assert reader.force_flush()
    provider.shutdown()
    for data in sent:
        send_as_json(f"{url}/v1/metrics", encode_metrics(data))
        for of_resource in data.resource_metrics:
            for of_scope in of_resource.scope_metrics:
                for metric in of_scope.metrics:
                    for point in metric.data.data_points:
                        expect_point(metric, point)


def expect_point(metric, point):
    attributes = "".join(f",{name}={value}" for name, value in sorted(texts(point.attributes).items()))
    columns = {}
    if hasattr(metric.data, "aggregation_temporality"):
        temporality = AggregationTemporality(metric.data.aggregation_temporality).name
        columns |= {"temporality": temporality, "start_time": point.start_time_unix_nano, "reset": False}
    if hasattr(point, "value"):
        columns |= {"value": point.value}
    else:
        names = ["count", "sum", "min", "max"]
        values = {name: getattr(point, name) for name in names}
        if hasattr(point, "explicit_bounds"):
            values |= {"bounds": list(point.explicit_bounds), "counts": list(point.bucket_counts)}
        else:
            values |= {"scale": point.scale, "zero_count": point.zero_count}
            for sign in ("positive", "negative"):
                buckets = getattr(point, sign)
                values |= {f"{sign}_offset": buckets.offset, f"{sign}_counts": list(buckets.bucket_counts)}
        columns |= {f"histogram.{name}": value for name, value in values.items()}
    expect(metric.name + attributes, point.time_unix_nano, **columns)


def texts(attributes):
    """Returns names and values as they stand in the name of an instance."""

    def escaped(text):
        return text.replace(",", "\\,").replace("=", "\\=")

    return {escaped(name): escaped(text(value)) for name, value in (attributes or {}).items()}


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def fields(*pairs):
    return [{"name": name, "value": value} for name, value in pairs]


def send_logs(url, resource):
    sent = []
    base, options = exporter(http_logs.OTLPLogExporter, grpc_logs.OTLPLogExporter, f"{url}/v1/logs")

    class Exporter(base):
        def export(self, batch):
            sent.extend(batch)
            return super().export(batch)

    provider = LoggerProvider(resource)
    provider.add_log_record_processor(SimpleLogRecordProcessor(Exporter(**options)))
    logger = logging.getLogger("plant.pump")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    logger.addHandler(LoggingHandler(logging.DEBUG, provider))
    for number in range(ROUNDS):
        level = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)[number % 5]
        logger.log(level, "pressure %s \u00e9", number, extra={"bar": number / 8, "is_open": True})
    provider.shutdown()
    send_as_json(f"{url}/v1/logs", encode_logs(sent))
    for entry in sent:
        record = entry.log_record
        expect(
            "log",
            record.timestamp,
            level=LEVELS[record.severity_number.value],
            target="plant.pump",
            message=record.body,
            line=record.attributes["code.line.number"],
            fields=fields(*((name, text(value)) for name, value in record.attributes.items())),
        )


def send_spans(url, resource):
    sent = []
    base, options = exporter(http_traces.OTLPSpanExporter, grpc_traces.OTLPSpanExporter, f"{url}/v1/traces")

    class Exporter(base):
        def export(self, spans):
            sent.extend(spans)
            return super().export(spans)

    provider = TracerProvider(resource=resource)
    provider.add_span_processor(SimpleSpanProcessor(Exporter(**options)))
    tracer = provider.get_tracer("plant")
    for number in range(ROUNDS):
        with tracer.start_as_current_span(f"turn {number}", kind=SpanKind.SERVER):
            with tracer.start_as_current_span("step", attributes={"number": number}) as span:
                if number % 4 == 0:
                    span.add_event("alarm", {"bar": 8})
                    span.set_status(Status(StatusCode.ERROR, "too high"))
    provider.shutdown()
    send_as_json(f"{url}/v1/traces", encode_spans(sent))
    for span in sent:
        pairs = [("trace_id", f"{span.context.trace_id:032x}"), ("span_id", f"{span.context.span_id:016x}")]
        pairs.append(("kind", span.kind.name.lower()))
        if span.status.description:
            pairs.append(("status", span.status.description))
        pairs += [(name, text(value)) for name, value in span.attributes.items()]
        for event in span.events:
            values = " ".join(f"{name}={text(value)}" for name, value in event.attributes.items())
            pairs.append((f"event {event.name}", values))
        expect(
            "spans",
            span.end_time,
            name=span.name,
            target="plant",
            duration=span.end_time - span.start_time,
            outcome="OK" if span.status.is_ok else "ERROR",
            id=span.context.span_id & MAX_SQL_INTEGER,
            parent=span.parent.span_id & MAX_SQL_INTEGER if span.parent else 0,
            fields=fields(*pairs),
        )


main()
