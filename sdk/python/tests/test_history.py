"""Tables of what was recorded, and samples as they come."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pyarrow as pa
import pytest
from dac import Dac, dac, up

import oasis
from oasis import arrow
from oasis.table import columns

SCHEMA = {
    "name": "T",
    "uuid": "0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11",
    "version": "1.0",
    "metrics": [
        {"name": "time", "type": "uint32"},
        {"name": "level", "type": "real64", "unit": "m"},
        {"name": "mode", "type": "int8", "enum": {"name": "M", "values": [{"name": "IDLE", "value": 0}]}},
        {"name": "at", "type": {"struct": {"name": "P", "members": [{"name": "x", "type": "real32"}]}}},
        {"name": "list", "type": {"vector": "int16"}},
        {"name": "Level", "type": "string"},
    ],
}


def metrics(number: int) -> dict[str, Any]:
    level = ["NaN", "-Infinity", 0.5][number % 3]
    return {
        "time": number,
        "level": level,
        "mode": number % 2,
        "at": {"x": 1.5},
        "list": [1] * number,
        "Level": "a",
    }


def samples(first: int, count: int, **more: object) -> dict[str, Any]:
    of = [
        {
            "sequence": first + n,
            "offset": 0,
            "time": 10 * (first + n),
            "state": 0,
            "metrics": metrics(first + n),
        }
        for n in range(count)
    ]
    return {
        "event": "samples",
        "node": "n",
        "instance": "i",
        "next": f"e:{first + count}",
        "samples": of,
        **more,
    }


@contextmanager
def door(
    *answers: list[dict[str, Any]], arrow: bytes | None = None
) -> Iterator[tuple[str, list[dict[str, list[str]]]]]:
    """Answer with these messages, one list a connection, and collect what was asked. Without an Arrow stream, it was built without."""
    asked: list[dict[str, list[str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path)
            is_arrow = path.path == "/api/v1/history.arrow"
            self.send_response(501 if is_arrow and arrow is None else 200)
            self.end_headers()
            if is_arrow:
                refused = {"type": "/problems/no_arrow", "detail": "built without Arrow"}
                self.wfile.write(json.dumps(refused).encode() if arrow is None else arrow)
                return
            if path.path == "/api/v1/instances":
                lines: list[Any] = [{"instances": [{"id": 1, "node": "n", "instance": "i"}]}]
            elif path.path == "/api/v1/instances/1":
                lines = [{"schema": SCHEMA}]
            else:
                asked.append(parse_qs(path.query))
                lines = answers[len(asked) - 1]
            for line in lines:
                self.wfile.write(json.dumps(line).encode() + b"\n")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


END = {"event": "end", "cause": "to", "next": "e:9"}


def test_columns_have_the_names_and_types_that_other_formats_give_them() -> None:
    of = columns(SCHEMA)
    assert [column.name for column in of] == ["time_2", "level", "mode", "at.x", "list", "Level_2"]
    arrays = {column.name: column.array([metrics(0), metrics(1)]) for column in of}
    assert arrays["time_2"].dtype == np.uint32
    assert np.isnan(arrays["level"][0])
    assert arrays["level"][1] == -np.inf
    assert arrays["mode"].tolist() == ["IDLE", "1"]
    assert arrays["at.x"].dtype == np.float32
    assert arrays["at.x"].tolist() == [1.5, 1.5]
    assert arrays["list"].tolist() == [[], [1]]
    assert of[1].unit == "m"


def door_table(column: pa.Array) -> pa.Table:
    """Return a table of the DAC with this column."""
    fixed = {name: pa.array([0] * len(column)) for name in ("time", "node", "instance", "sequence", "state")}
    return pa.table({**fixed, "value": column})


def test_what_a_sample_lacks_is_no_value() -> None:
    lacking = {**metrics(1), "time": None, "mode": None, "at": None, "list": None}
    arrays = {column.name: column.array([metrics(0), lacking]) for column in columns(SCHEMA)}
    assert arrays["time_2"].tolist()[0] == metrics(0)["time"]
    assert np.isnan([arrays["time_2"][1], arrays["at.x"][1]]).all()
    assert (arrays["mode"][1], arrays["list"][1]) == (None, None)
    absent = (
        pa.array([1, None], pa.int32()),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([True, None]),
    )
    made = [arrow.arrays(door_table(column))["value"].tolist() for column in absent]
    assert [values[0] for values in made] == [1.0, "a", True]
    assert np.isnan(made[0][1])
    assert made[1][1] is made[2][1] is None


def test_gaps_come_with_the_batch_after_them() -> None:
    gap = {"event": "gap", "node": "n", "instance": "i", "count": 4, "cause": "log_retention", "next": "e:6"}
    with door([samples(1, 2), samples(5, 1), gap, samples(10, 1), END]) as (url, asked):
        batches = list(oasis.live("n/i", url=url, since=timedelta(minutes=1)))
    assert [batch.sequence.tolist() for batch in batches] == [[1, 2], [5], [10]]
    gaps = [[(gap.count, gap.cause) for gap in batch.gaps] for batch in batches]
    assert gaps == [[], [(2, "before_the_dac")], [(4, "log_retention")]]
    assert batches[0].time.tolist() == [10, 20]
    assert batches[0].time.dtype == np.dtype("datetime64[ns]")
    assert len(batches[0]) == 2
    assert asked == [{"node": ["n"], "instance": ["i"], "from": ["-60s"], "delivery": ["every"]}]


def test_a_type_that_has_changed_is_named_and_loses_no_gap() -> None:
    changed = {
        "event": "type_changed",
        "node": "n",
        "instance": "i",
        "type": "T",
        "version": "2.0",
        "next": "e:6",
    }
    gap = {"event": "gap", "node": "n", "instance": "i", "count": 4, "cause": "log_retention", "next": "e:6"}
    with door([samples(1, 1), gap, changed, END]) as (url, _):
        batches = list(oasis.live("n/i", url=url))
    assert [[gap.count for gap in batch.gaps] for batch in batches] == [[], [4]]
    now = metrics(1)
    for then in ({**now, "at": {}}, {**now, "more": 1}, {"level": 0.5}):
        before = samples(1, 1)
        before["samples"][0]["metrics"] = then
        with door([before, END]) as (url, _), pytest.raises(TypeError, match="n/i had another probe type"):
            oasis.history("n/i", url=url)


def test_a_broken_connection_is_taken_up_where_it_broke() -> None:
    with door([samples(1, 2)], [], [samples(3, 1), END]) as (url, asked):
        batches = list(oasis.live("n/i", url=url))
    assert [batch.sequence.tolist() for batch in batches] == [[1, 2], [3]]
    assert [request.get("resume") for request in asked] == [None, ["e:3"], ["e:3"]]
    with (
        door([samples(1, 1)], *([[]] * 100)) as (url, _),
        pytest.raises(ConnectionError, match="ended the stream"),
    ):
        list(oasis.live("n/i", url=url, patience=0.0))


def test_what_is_missing_in_a_table_is_no_secret() -> None:
    gap = {"event": "gap", "node": "n", "instance": "i", "count": 4, "cause": "damaged", "next": "e:6"}
    missing = pytest.warns(oasis.MissingSamplesWarning, match=r"n/i: 4 samples missing \(damaged\)")
    with door([samples(1, 2), gap, END]) as (url, _), missing:
        table = oasis.history("n/i", url=url, frame="numpy")
    assert table["sequence"].tolist() == [1, 2]
    gaps: list[oasis.Gap] = []
    with door([samples(1, 2), gap, END]) as (url, _):
        oasis.history("n/i", url=url, frame="numpy", on_gap=gaps.append)
    assert [gap.count for gap in gaps] == [4]
    with door([END]) as (url, _):
        assert {
            name: len(of) for name, of in oasis.history("n/i", url=url, frame="numpy").items()
        } == dict.fromkeys(
            [
                "time",
                "node",
                "instance",
                "sequence",
                "state",
                "time_2",
                "level",
                "mode",
                "at.x",
                "list",
                "Level_2",
            ],
            0,
        )
    broken = {"event": "end", "cause": "archive_error", "next": "e:1"}
    with door([samples(1, 2), broken]) as (url, _), pytest.raises(oasis.DacError, match="archive_error"):
        oasis.history("n/i", url=url)


def arrow_of(numbers: list[int]) -> bytes:
    """An Arrow stream of samples with these numbers, in parts of two, as a DAC writes it."""
    text = pa.dictionary(pa.int32(), pa.string())
    point = pa.struct([("x", pa.float32())])
    schema = pa.schema(
        [
            *[(name, text) for name in ("node", "instance", "run", "epoch")],
            ("offset", pa.uint64()),
            ("sequence", pa.uint64()),
            ("time", pa.timestamp("ns", "UTC")),
            ("state", pa.uint16()),
            ("time_2", pa.uint32()),
            ("level", pa.float64()),
            ("mode", text),
            ("at", point),
            ("list", pa.list_(pa.int16())),
            ("Level_2", pa.string()),
        ]
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as out:
        for first in range(0, len(numbers), 2):
            part = numbers[first : first + 2]
            whose = [pa.array([word] * len(part)).dictionary_encode() for word in ("n", "i", "r", "e")]
            modes = [["IDLE", "1"][number % 2] for number in part]
            columns = [
                *whose,
                pa.array([0] * len(part), pa.uint64()),
                pa.array(part, pa.uint64()),
                pa.array([10 * number for number in part], pa.timestamp("ns", "UTC")),
                pa.array([0] * len(part), pa.uint16()),
                pa.array(part, pa.uint32()),
                pa.array([float(metrics(number)["level"]) for number in part], pa.float64()),
                pa.array(modes).dictionary_encode(),
                pa.array([{"x": 1.5}] * len(part), point),
                pa.array([[1] * number for number in part], pa.list_(pa.int16())),
                pa.array(["a"] * len(part)),
            ]
            out.write_batch(pa.record_batch(columns, schema=schema))
    return cast(bytes, sink.getvalue().to_pybytes())


def test_a_table_is_the_same_whether_it_came_as_arrow_or_as_json() -> None:
    with door([samples(1, 5), END]) as (url, asked):
        lines = oasis.history("n/i", url=url, frame="numpy")
    assert len(asked) == 1
    with door(arrow=arrow_of([1, 2, 3, 4, 5])) as (url, asked):
        streamed = oasis.history("n/i", url=url, frame="numpy")
    assert not asked
    assert list(streamed) == list(lines)
    for name, column in lines.items():
        assert streamed[name].dtype == column.dtype, name
        np.testing.assert_array_equal(streamed[name], column, err_msg=name)
    with door(arrow=arrow_of([1, 2, 3])) as (url, _):
        frame = oasis.history("n/i", url=url, frame="pandas")
    assert "UTC" in str(frame["time"].dtype)
    with (
        door(arrow=arrow_of([1, 2, 3])[:-100]) as (url, _),
        pytest.raises(OSError, match="message body"),
    ):
        oasis.history("n/i", url=url)


def before(first: int, last: int, cause: str) -> dict[str, Any]:
    """Return a gap as the DAC reports it before samples."""
    return {"from_sequence": first, "to_sequence": last, "count": last - first + 1, "cause": cause}


def test_a_gap_has_each_cause_that_the_dac_reports() -> None:
    after = samples(9, 1, gaps_before=[before(3, 4, "spool_full"), before(5, 7, "ring_full")])
    # Samples that are missing before the first ones are not a gap of this reader.
    first = samples(1, 2, gaps_before=[before(0, 0, "network")])
    with door([first, after, END]) as (url, _):
        batches = list(oasis.live("n/i", url=url))
    assert batches[0].gaps == ()
    counts = [(gap.count, gap.cause) for gap in batches[1].gaps]
    assert counts == [(2, "spool_full"), (3, "ring_full"), (1, "before_the_dac")]


def test_the_causes_of_gaps_in_an_arrow_stream_are_those_before_its_next_sample() -> None:
    after = samples(6, 1, gaps_before=[before(3, 5, "kept_back")])
    gaps: list[oasis.Gap] = []
    first = samples(2, 1, gaps_before=[before(1, 1, "network")])
    with door([first, after, END], arrow=arrow_of([1, 2, 6])) as (url, _):
        oasis.history("n/i", url=url, on_gap=gaps.append)
    assert [(gap.count, gap.cause) for gap in gaps] == [(3, "kept_back")]


def test_the_causes_of_gaps_in_an_arrow_stream_are_requested() -> None:
    gap = {"event": "gap", "node": "n", "instance": "i", "count": 2, "cause": "disk_full", "next": "e:6"}
    gaps: list[oasis.Gap] = []
    with door([samples(2, 1), gap, samples(6, 1), END], arrow=arrow_of([1, 2, 6])) as (url, asked):
        oasis.history("n/i", url=url, on_gap=gaps.append)
    assert [(gap.count, gap.cause) for gap in gaps] == [(2, "disk_full"), (1, "before_the_dac")]
    assert [(request["from"], request["to"]) for request in asked] == [(["20ns"], ["61ns"])]


def test_vectors_are_lists_of_what_other_formats_have() -> None:
    mode = {"name": "M", "values": [{"name": "IDLE", "value": 0}]}
    point = {
        "struct": {
            "name": "P",
            "members": [{"name": "x", "type": "real32"}, {"name": "m", "type": "int8", "enum": mode}],
        }
    }
    schema = {
        "metrics": [
            {"name": "modes", "type": {"vector": "int8"}, "enum": mode},
            {"name": "path", "type": {"vector": point}},
            {"name": "grid", "type": {"vector": {"vector": "real64"}}},
        ]
    }
    sample = {"modes": [0, 7], "path": [{"x": "Infinity", "m": 0}], "grid": [[1, "NaN"], []]}
    modes, path, grid = (column.array([sample])[0] for column in columns(schema))
    assert modes == ["IDLE", "7"]
    assert path == [{"x": float("inf"), "m": "IDLE"}]
    assert grid[0][0] == 1.0
    assert np.isnan(grid[0][1])
    assert grid[1] == []


def test_a_node_that_is_gone_is_read_from_the_archive(tmp_path: Path) -> None:
    archive = str(tmp_path / "archive")
    with up("--name", "plant", "--probe", "memory@50", "--archive", archive) as running:
        running.eventually("plant", "memory", lambda ledger: ledger["received"] > 50)
    with dac("--archive", archive) as running:
        assert [one["state"] for one in running.get("/api/v1/instances")["instances"]] == ["offline"]
        table = oasis.history("plant/memory", url=running.http, frame="numpy")
        numbers = table["sequence"].tolist()
        assert len(numbers) > 50
        assert numbers == list(range(1, len(numbers) + 1))
        with pytest.raises(oasis.DacError, match="no instance plant/nobody"):
            oasis.history("plant/nobody", url=running.http)


@pytest.fixture(scope="module", name="plant")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dac]:
    archive = str(tmp_path_factory.mktemp("archive"))
    arguments = ["--name", "plant", "--probe", "processor@200", "--probe", "memory@50", "--archive", archive]
    with up(*arguments) as running:
        running.eventually("plant", "processor", lambda ledger: ledger["received"] > 200)
        yield running


def test_a_table_has_every_sample_that_was_recorded(plant: Dac) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = oasis.history("plant/processor", url=plant.http, frame="numpy")
    numbers = table["sequence"].tolist()
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 200
    assert table["idle_time"].dtype == np.uint64
    assert set(table["node"]) == {"plant"}

    middle = int(table["time"].astype(np.int64)[100])
    part = oasis.history("plant/processor", url=plant.http, since=middle, until=middle + 1, frame="numpy")
    assert part["sequence"].tolist() == [101]
    day = datetime.now(timezone.utc) - timedelta(days=1)
    assert len(oasis.history("plant/processor", url=plant.http, since=day, frame="numpy")["time"]) >= len(
        numbers
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_is_a_data_frame(plant: Dac, library: Any) -> None:
    frame = oasis.history("plant/processor", url=plant.http, frame=library)
    assert type(frame).__module__.split(".")[0] == library
    assert "UTC" in str(frame["time"].dtype)
    assert "ns" in str(frame["time"].dtype)
    assert frame["sequence"].max() == len(frame)
    assert frame["user_time"].min() > 0


def test_a_table_is_one_of_arrow(plant: Dac) -> None:
    table = oasis.history("plant/processor", url=plant.http, frame="arrow")
    assert table.schema.field("time").type == pa.timestamp("ns", "UTC")
    assert table["sequence"].to_pylist() == list(range(1, len(table) + 1))
    assert set(table["node"].to_pylist()) == {"plant"}
    assert table.column_names == [*oasis.history("plant/processor", url=plant.http, frame="numpy")]


def test_the_default_frame_is_pandas(plant: Dac) -> None:
    assert type(oasis.history("plant/memory", url=plant.http)).__module__.startswith("pandas")


def test_live_begins_in_the_past_and_goes_on_without_a_seam(plant: Dac) -> None:
    numbers: list[int] = []
    kinds = set()
    for batch in oasis.live("plant/processor", "plant/memory", url=plant.http, since=0):
        assert not batch.gaps
        kinds.add(batch.instance)
        if batch.instance == "processor":
            numbers.extend(batch.sequence.tolist())
            assert batch.columns["idle_time"].dtype == np.uint64
        if len(numbers) > 600 and len(kinds) == 2:
            break
    assert numbers == list(range(1, len(numbers) + 1))


def test_an_envelope_has_the_least_and_the_greatest_value(plant: Dac) -> None:
    batch = next(oasis.live("plant/processor", url=plant.http, delivery="envelope=20"))
    assert (
        batch.columns["user_time.min"][0]
        <= batch.columns["user_time"][0]
        <= batch.columns["user_time.max"][0]
    )
    assert not batch.gaps


def test_what_is_refused_says_why(plant: Dac) -> None:
    with pytest.raises(oasis.DacError, match=r"no instance plant/nobody; it has plant/"):
        oasis.history("plant/nobody", url=plant.http)
    with pytest.raises(TypeError, match="columns of one probe type"):
        oasis.history("plant/processor", "plant/memory", url=plant.http)
    with pytest.raises(oasis.DacError, match="later than to"):
        oasis.history("plant/processor", url=plant.http, since="-1h", until="-2h")
    with pytest.raises(oasis.DacError, match="looks like seconds"):
        oasis.history("plant/processor", url=plant.http, since=1_763_683_200)
    with pytest.raises(oasis.DacError, match="delivery"):
        next(oasis.live("plant/processor", url=plant.http, delivery="some"))
    with pytest.raises(ValueError, match="NODE/INSTANCE"):
        oasis.history("processor", url=plant.http)
    with pytest.raises(ValueError, match="no time zone"):
        oasis.history("plant/processor", url=plant.http, since=datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="unknown frame 'excel'"):
        oasis.history("plant/processor", url=plant.http, frame="excel")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="not an address"):
        oasis.history("plant/processor", url=str(Path("here")))
