"""As much of an API server of Kubernetes as Helm asks: it keeps objects in memory, and validates nothing."""

import base64
import json
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RESOURCES = {
    "v1": {"secrets": "Secret", "configmaps": "ConfigMap", "services": "Service", "serviceaccounts": "ServiceAccount"},
    "apps/v1": {"statefulsets": "StatefulSet", "deployments": "Deployment", "daemonsets": "DaemonSet"},
    "policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"},
    "networking.k8s.io/v1": {"ingresses": "Ingress", "networkpolicies": "NetworkPolicy"},
    "monitoring.coreos.com/v1": {"servicemonitors": "ServiceMonitor"},
}
VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
OBJECT = re.compile(r"/(?:api/|apis/)(?P<version>[a-z0-9./]+?)/namespaces/(?P<namespace>[^/]+)/(?P<plural>[a-z]+)(?:/(?P<name>[^/]+))?$")


class ApiServer(ThreadingHTTPServer):
    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], dict] = {}
        # Kind, name and body of each patch that changes an object.
        self.patches: list[tuple[str, str, dict]] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def kubeconfig(self) -> dict:
        cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server_port}"}}
        context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
        return {"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [context], "clusters": [cluster],
                "users": [{"name": "u", "user": {}}]}  # fmt: skip

    def of(self, kind: str) -> dict[str, dict]:
        """Objects of a kind, but for the releases of Helm."""
        return {name: one for (known, name), one in self.objects.items() if known == kind and "helm.release" not in name}


def merged(old: object, patch: object) -> object:
    """Merges as RFC 7396, and lists of named objects by their names."""
    if isinstance(patch, dict) and isinstance(old, dict):
        result = dict(old)
        for key, value in patch.items():
            if key.startswith("$"):
                continue
            if value is None:
                result.pop(key, None)
            else:
                result[key] = merged(old.get(key), value)
        return result
    if isinstance(patch, list) and isinstance(old, list) and all(isinstance(one, dict) and "name" in one for one in patch + old):
        by_name = {one["name"]: one for one in patch}
        kept = [merged(one, by_name.pop(one["name"], {})) for one in old]
        return kept + list(by_name.values())
    return patch


def fields(message: bytes) -> list[tuple[int, bytes]]:
    """Fields of a message of Protocol Buffers that have a length."""

    def number(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    found, at = [], 0
    while at < len(message):
        tag, at = number(at)
        length, at = number(at)
        # Other kinds than numbers and these are in none of our objects.
        if tag & 7 == 2:
            found.append((tag >> 3, message[at : at + length]))
            at += length
    return found


def secret(envelope: bytes) -> dict:
    """The record of a release, which Helm sends as Protocol Buffers (k8s.io/api/core/v1, generated.proto)."""
    [raw] = [value for key, value in fields(envelope.removeprefix(b"k8s\0")) if key == 2]
    metadata: dict = {"labels": {}}
    made: dict = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {}}
    for key, value in fields(raw):
        if key == 1:
            for inner, text in fields(value):
                if inner == 1:
                    metadata["name"] = text.decode()
                if inner == 11:
                    entry = dict(fields(text))
                    metadata["labels"][entry[1].decode()] = entry[2].decode()
        elif key == 2:
            entry = dict(fields(value))
            made["data"][entry[1].decode()] = base64.b64encode(entry[2]).decode()
        elif key == 3:
            made["type"] = value.decode()
    return made


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length)
        path, _, query = self.path.partition("?")
        asked = None
        if sent:
            asked = secret(sent) if "protobuf" in self.headers["Content-Type"] else json.loads(sent)
        with self.server.lock:
            status, body = self.discover(path) or self.serve(path, query, asked)
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request

    def discover(self, path: str) -> tuple[int, dict] | None:
        if path == "/version":
            return 200, {"major": "1", "minor": "34", "gitVersion": "v1.34.2"}
        if path == "/api":
            return 200, {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            groups = []
            for name in RESOURCES:
                if "/" in name:
                    version = {"groupVersion": name, "version": name.split("/")[1]}
                    groups.append({"name": name.split("/")[0], "versions": [version], "preferredVersion": version})
            return 200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        group = path.removeprefix("/apis/").removeprefix("/api/")
        if group in RESOURCES:
            kinds = [
                {"name": plural, "singularName": "", "namespaced": True, "kind": kind, "verbs": VERBS}
                for plural, kind in RESOURCES[group].items()
            ]
            return 200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": kinds}
        return None

    def serve(self, path: str, query: str, sent: dict | None) -> tuple[int, dict]:
        found = OBJECT.match(path)
        if not found or found["plural"] not in RESOURCES.get(found["version"], {}):
            return self.failure(404, "NotFound", path)
        kind = RESOURCES[found["version"]][found["plural"]]
        known = self.server.objects
        if self.command == "POST":
            key = (kind, sent["metadata"]["name"])
            if key in known:
                return self.failure(409, "AlreadyExists", key[1])
            sent["metadata"]["resourceVersion"] = "1"
            known[key] = sent
            return 201, sent
        if found["name"] is None:
            selector = urllib.parse.parse_qs(query).get("labelSelector", [""])[0]
            wanted = dict(pair.split("=") for pair in selector.split(",") if pair)
            items = [one for (k, _), one in known.items() if k == kind and wanted.items() <= one["metadata"].get("labels", {}).items()]
            return 200, {"kind": f"{kind}List", "apiVersion": found["version"], "metadata": {}, "items": items}
        key = (kind, found["name"])
        if key not in known:
            return self.failure(404, "NotFound", key[1])
        if self.command == "DELETE":
            return 200, known.pop(key)
        if self.command == "PUT":
            known[key] = sent
        if self.command == "PATCH":
            result = merged(known[key], sent)
            if result != known[key]:
                self.server.patches.append((kind, found["name"], sent))
            known[key] = result
        return 200, known[key]

    def failure(self, code: int, reason: str, what: str) -> tuple[int, dict]:
        return code, {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "reason": reason,
            "code": code,
            "message": f"{what}: {reason}",
        }

    def log_message(self, *_: object) -> None:
        pass
