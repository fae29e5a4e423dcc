"""What a DAC answers over HTTP: its instances, and samples as lines (docs/reference/text-doors.md)."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

URL = "http://127.0.0.1:7070"
"""Where `oasis up` answers unless told otherwise."""

Time = datetime | timedelta | int | str
"""A moment: with a time zone, so long ago, nanoseconds since 1970, or as the doors take it (`-15m`)."""

_SILENCE = 30.0
"""Seconds without a byte after which a connection is dead: the DAC gives a sign of life each 15 s."""


class DacError(Exception):
    """A DAC that refused a request. The text says why, and what to do."""

    problem: str | None = None
    """Its word for that, such as `no_samples`, if it has said one."""


def moment(at: Time) -> str:
    """Write a time as the doors take it. Raises ValueError for a datetime without a time zone."""
    if isinstance(at, timedelta):
        return f"-{max(0, round(at.total_seconds()))}s"
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise ValueError(f"{at} has no time zone: write datetime(…, tzinfo=timezone.utc)")
        return at.isoformat()
    return str(at)


def split(instance: str) -> tuple[str, str]:
    """Split `NODE/INSTANCE` at the first slash. Raises ValueError if there is none."""
    node, slash, name = instance.partition("/")
    if not (node and slash and name):
        raise ValueError(f"{instance!r} is no instance: write NODE/INSTANCE, such as my-host/processor")
    return node, name


class Door:
    """A DAC by its address."""

    def __init__(self, url: str = URL) -> None:
        self._url = url.rstrip("/")

    def get(self, path: str) -> dict[str, Any]:
        """Fetch a document. Raises DacError if the DAC refuses, OSError if it cannot be reached."""
        with self._open(path) as answer:
            return cast(dict[str, Any], json.load(answer))

    def schema(self, node: str, instance: str) -> dict[str, Any]:
        """Fetch the probe type of an instance."""
        known = self.get("/api/v1/instances")["instances"]
        for one in known:
            if (one["node"], one["instance"]) == (node, instance):
                return cast(dict[str, Any], self.get(f"/api/v1/instances/{one['id']}")["schema"])
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
        """As `lines`, and go on where it stopped if the connection breaks, for so many seconds without a message."""
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
                lost = ConnectionError(f"{self._url} has ended the stream")
            if time.monotonic() > deadline:
                raise lost
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    def _open(self, path: str) -> http.client.HTTPResponse:
        if not self._url.startswith(("http://", "https://")):
            raise ValueError(f"{self._url} is no address of a DAC: write {URL}")
        try:
            opened = urllib.request.urlopen(self._url + path, timeout=_SILENCE)  # noqa: S310
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
