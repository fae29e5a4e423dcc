"""The HTTP API of a DAC: instances, and samples as lines (docs/reference/text-doors.md)."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

URL = "http://127.0.0.1:7070"
"""Default address of `oasis up`."""

Time = datetime | timedelta | int | str
"""A time: a datetime with a time zone, a timedelta before now, nanoseconds since 1970, or text for the doors (`-15m`)."""

_SILENCE = 30.0
"""Timeout in seconds for a silent connection; the DAC sends a keep-alive every 15 s."""


class DacError(Exception):
    """The DAC refused a request. The text says why, and what to do."""

    problem: str | None = None
    """Problem code, such as `no_samples`; None if the DAC sent none."""


def moment(at: Time) -> str:
    """Format a time for the doors. Raises ValueError for a datetime without a time zone."""
    if isinstance(at, timedelta):
        return f"-{max(0, round(at.total_seconds()))}s"
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise ValueError(f"{at} has no time zone: use datetime(…, tzinfo=timezone.utc)")
        return at.isoformat()
    return str(at)


def split(instance: str) -> tuple[str, str]:
    """Split `NODE/INSTANCE` at the first slash. Raises ValueError if there is none."""
    node, slash, name = instance.partition("/")
    if not (node and slash and name):
        raise ValueError(f"{instance!r} is not an instance: use NODE/INSTANCE, such as my-host/processor")
    return node, name


class Door:
    """Client for the HTTP API of a DAC. With `https://` it trusts the CA in the file OASIS_CA, or those of the system."""

    def __init__(self, url: str = URL) -> None:
        self._url = url.rstrip("/")
        self._trust: ssl.SSLContext | None = None
        if self._url.startswith("https://"):
            self._trust = ssl.create_default_context(cafile=os.environ.get("OASIS_CA") or None)

    def get(self, path: str) -> dict[str, Any]:
        """Fetch a document. Raises DacError if the DAC refuses, OSError if it cannot be reached."""
        with self._open(path) as answer:
            return cast(dict[str, Any], json.load(answer))

    def schema(self, node: str, instance: str) -> dict[str, Any]:
        """Fetch the probe type of an instance."""
        named = urllib.parse.urlencode({"node": node, "instance": instance})
        for one in self.get(f"/api/v1/instances?{named}")["instances"]:
            if (one["node"], one["instance"]) == (node, instance):
                return cast(dict[str, Any], self.get(f"/api/v1/instances/{one['id']}")["schema"])
        known = self.get("/api/v1/instances?limit=10")["instances"]
        names = ", ".join(f"{one['node']}/{one['instance']}" for one in known[:10]) or "none"
        raise DacError(f"{self._url} has no instance {node}/{instance}; it has {names}")

    def lines(self, instances: Sequence[tuple[str, str]], **options: str) -> Iterator[dict[str, Any]]:
        """Follow messages to their end. Raises OSError or HTTPException if the connection breaks."""
        with self._open(f"/api/v1/samples/stream?{_query(instances, options)}") as answer:
            for line in answer:
                if line.strip():
                    yield json.loads(line)

    def arrow(self, instances: Sequence[tuple[str, str]], since: str, until: str) -> http.client.HTTPResponse:
        """Open the Arrow stream of a time. Raises DacError with problem `no_arrow` if the DAC was built without."""
        query = _query(instances, {"from": since, "to": until})
        return self._open(f"/api/v1/history.arrow?{query}")

    def lines_again(
        self, instances: Sequence[tuple[str, str]], patience: float, **options: str
    ) -> Iterator[dict[str, Any]]:
        """Follow messages as `lines` does; after a broken connection continue where it stopped, for `patience` seconds without a message."""
        deadline = time.monotonic() + patience
        pause = 0.05
        while True:
            try:
                for message in self.lines(instances, **options):
                    yield message
                    deadline, pause = time.monotonic() + patience, 0.05
                    if message["event"] == "end" and message["cause"] != "shutting_down":
                        return
                    options["resume"] = message["next"]
            except (OSError, http.client.HTTPException) as broken:
                lost: Exception = broken
            else:
                lost = ConnectionError(f"{self._url} ended the stream")
            if time.monotonic() > deadline:
                raise lost
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    def _open(self, path: str) -> http.client.HTTPResponse:
        if not self._url.startswith(("http://", "https://")):
            raise ValueError(f"{self._url} is not an address of a DAC: use an address such as {URL}")
        try:
            opened = urllib.request.urlopen(self._url + path, timeout=_SILENCE, context=self._trust)  # noqa: S310
        except urllib.error.HTTPError as refused:
            with refused:
                try:
                    said = json.load(refused)
                    detail, problem = said["detail"], said["type"].rpartition("/")[2]
                except (ValueError, KeyError):
                    detail, problem = str(refused), {404: "not_found"}.get(refused.code)
            if refused.code == http.client.SERVICE_UNAVAILABLE:
                raise ConnectionError(detail) from None
            error = DacError(detail)
            error.problem = problem
            raise error from None
        return cast(http.client.HTTPResponse, opened)


def _query(instances: Sequence[tuple[str, str]], options: Mapping[str, str]) -> str:
    pairs = [pair for node, name in instances for pair in (("node", node), ("instance", name))]
    return urllib.parse.urlencode([*pairs, *options.items()])
