"""A collector that reads each request with the definitions of OpenTelemetry, and prints a line for each value and log record."""

import http.server
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

REQUESTS = {
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
    "/v1/logs": logs_service_pb2.ExportLogsServiceRequest,
}


def plain(value):
    return getattr(value, value.WhichOneof("value"))


def attributes(of):
    return {each.key: plain(each.value) for each in of}


def points(request):
    for resource in request.resource_metrics:
        node = attributes(resource.resource.attributes)["service.name"]
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                for point in getattr(metric, kind).data_points:
                    yield {
                        "node": node,
                        "metric": metric.name,
                        "unit": metric.unit,
                        "kind": kind,
                        "time": point.time_unix_nano,
                        "value": getattr(point, point.WhichOneof("value")),
                        **attributes(point.attributes),
                    }


def records(request):
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                yield {
                    "event": record.event_name,
                    "severity": record.severity_text,
                    "body": plain(record.body),
                    "time": record.time_unix_nano,
                    **attributes(record.attributes),
                }


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        # Unknown fields are errors.
        request = json_format.Parse(body, REQUESTS[self.path]())
        for line in points(request) if self.path == "/v1/metrics" else records(request):
            print(json.dumps({**line, "authorization": self.headers["authorization"]}), flush=True)
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Collector)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
