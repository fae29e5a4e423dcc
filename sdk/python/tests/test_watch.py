"""Probes without PDL: `oasis.watch`, and classes with `@oasis.probe`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
from dac import OASIS, Dac

import oasis
from oasis.node import NodeBuilder
from oasis.watch import MAX_WATCHES


class Mode(IntEnum):
    OFF = 0
    RUNNING = 500


@oasis.probe(type="Plant::Motor", version="1.2")
class Motor:
    """One drive."""

    rpm: Annotated[int, oasis.Unit("1/min"), oasis.As("uint32")]
    temperature: Annotated[
        float,
        oasis.Unit("Cel"),
        oasis.Range(-40, 150),
        oasis.Warn(above=80),
        oasis.Alarm(above=100.5),
        oasis.Label("Winding"),
        oasis.Kind("gauge"),
        oasis.Doc("Of the winding."),
    ]
    mode: Mode = Mode.OFF
    loads: Annotated[list[float], oasis.As("real32")] = ()  # type: ignore[assignment]
    name: str = ""


@oasis.probe
class Point:
    """A type whose samples all have one size."""

    x: int = 0


def instance(dac: Dac, node: str, name: str) -> Any:
    known = dac.get("/api/v1/instances")["instances"]
    number = next(one["id"] for one in known if (one["node"], one["instance"]) == (node, name))
    return dac.get(f"/api/v1/instances/{number}")


def test_a_class_has_the_schema_that_it_declares() -> None:
    schema = json.loads(Motor.SCHEMA)  # type: ignore[attr-defined]
    assert schema.pop("uuid") == str(Motor.UUID)  # type: ignore[attr-defined]
    assert schema == {
        "name": "Plant::Motor",
        "version": "1.2",
        "doc": "One drive.",
        "metrics": [
            {"name": "rpm", "type": "uint32", "unit": "1/min"},
            {
                "name": "temperature",
                "type": "real64",
                "doc": "Of the winding.",
                "unit": "Cel",
                "kind": "gauge",
                "label": "Winding",
                "min": -40,
                "max": 150,
                "warn": {"above": 80},
                "alarm": {"above": 100.5},
            },
            {
                "name": "mode",
                "type": "int16",
                "enum": {
                    "name": "Mode",
                    "values": [{"name": "OFF", "value": 0}, {"name": "RUNNING", "value": 500}],
                },
            },
            {"name": "loads", "type": {"vector": "real32"}},
            {"name": "name", "type": "string"},
        ],
    }
    motor = Motor(900, 21.5, Mode.RUNNING, [0.5, 1.0], "left")
    assert Motor.from_row(motor.to_row()) == motor  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"Motor\.rpm: expected uint32"):
        Motor(-1, 0.0).to_row()  # type: ignore[attr-defined]


def test_samples_of_a_class_arrive_and_pdl_of_it_is_the_same_type(dac: Dac, tmp_path: Path) -> None:
    builder = NodeBuilder("declared-py")
    motor = builder.pushed("motor", Motor)
    with builder.start(dac.channel) as node:
        added = node.pushed("motor 2", Motor)
        assert motor.flush(Motor(900, 21.5))
        assert added.flush(Motor(800, 20.5))
        dac.eventually("declared-py", "motor", lambda ledger: ledger["received"] == 1)
        dac.eventually("declared-py", "motor 2", lambda ledger: ledger["received"] == 1)
    file = tmp_path / "motor.pdl"
    infer = [OASIS, "pdl", "infer", "--url", dac.http, "declared-py/motor 2", "-o", str(file)]
    subprocess.run(infer, check=True)
    subprocess.run([OASIS, "pdl", "compile", "--lang", "json", "-o", str(tmp_path), str(file)], check=True)
    (compiled,) = json.loads((tmp_path / "motor.json").read_text())
    assert compiled == json.loads(Motor.SCHEMA)  # type: ignore[attr-defined]


PROGRAM = """
import sys
import oasis

for turn in range(100):
    assert oasis.watch("control loop", turn=turn, late=turn / 2, ok=True, units={"late": "us"})
assert oasis.watch("texts", message="ä", level=1)
sys.stdin.read()
"""


def test_a_program_without_a_node_gets_one_of_its_name(dac: Dac, tmp_path: Path) -> None:
    file = tmp_path / "my-loop.py"
    file.write_text(PROGRAM)
    program = subprocess.Popen(
        [sys.executable, str(file)],
        stdin=subprocess.PIPE,
        env={"OASIS_DAC": dac.channel, "PYTHONPATH": ":".join(sys.path)},
    )
    with program:
        ledger = dac.eventually("my-loop", "control loop", lambda ledger: ledger["received"] == 100)
        dac.eventually("my-loop", "texts", lambda ledger: ledger["received"] == 1)
        known = instance(dac, "my-loop", "control loop")
        program.communicate(b"")
    assert program.returncode == 0
    assert ledger["missing"] == 0
    assert known["type"] == "control_loop"
    assert [(metric["type"], metric.get("unit")) for metric in known["schema"]["metrics"]] == [
        ("int64", None),
        ("real64", "us"),
        ("boolean", None),
    ]
    assert known["latest"]["metrics"] == {"turn": 99, "late": 49.5, "ok": True}


def test_a_call_that_differs_from_the_first_one_is_an_error(dac: Dac) -> None:
    with NodeBuilder("strict").start(dac.channel) as node:
        assert oasis.watch("motor", rpm=1, temperature=1.5, on=True, units={"temperature": "Cel"})
        # Whole numbers are floats, and types of other packages are what they can be.
        assert oasis.watch("motor", rpm=2, temperature=2, on=False)
        with pytest.raises(
            TypeError, match=r"motor\.rpm is int64 since its first call, got float 1\.5: pass an int"
        ):
            oasis.watch("motor", rpm=1.5, temperature=1.5, on=True)
        with pytest.raises(TypeError, match=r"motor\.on is boolean"):
            oasis.watch("motor", rpm=1, temperature=1.5, on=1)
        with pytest.raises(TypeError, match=r"motor\.rpm is int64"):
            oasis.watch("motor", rpm=True, temperature=1.5, on=True)
        with pytest.raises(ValueError, match="without on: give all"):
            oasis.watch("motor", rpm=1, temperature=1.5)
        with pytest.raises(ValueError, match="with torque"):
            oasis.watch("motor", rpm=1, temperature=1.5, on=True, torque=3)
        with pytest.raises(ValueError, match="int64"):
            oasis.watch("motor", rpm=1 << 63, temperature=1.5, on=True)
        with pytest.raises(ValueError, match="units"):
            oasis.watch("motor", rpm=1, temperature=1.5, on=True, units={"temperature": "K"})
        ledger = dac.eventually("strict", "motor", lambda ledger: ledger["received"] == 2)
        assert ledger["missing"] == 0
        with pytest.raises(ValueError, match="no metrics"):
            oasis.watch("empty")
        with pytest.raises(ValueError, match="celsius"):
            oasis.watch("wrong", temperature=1.5, units={"temperature": "celsius"})
        with pytest.raises(ValueError, match="unit for rpm"):
            oasis.watch("wrong", temperature=1.5, units={"rpm": "1"})
        with pytest.raises(ValueError, match="_x"):
            oasis.watch("wrong", _x=1.5)
        with pytest.raises(TypeError, match=r"wrong\.values is a list"):
            oasis.watch("wrong", values=[1.5])  # type: ignore[arg-type]
        for number in range(len(node.watched), MAX_WATCHES):
            assert oasis.watch(f"number {number}", value=1)
        with pytest.raises(ValueError, match="few names"):
            oasis.watch("one more", value=1)


def test_a_text_that_is_longer_than_the_ring_says_so_once_and_is_counted_with_its_cause(dac: Dac) -> None:
    with NodeBuilder("long").start(dac.channel) as node:
        assert node.watch("motor", text="x")
        with pytest.warns(
            oasis.SampleTooLongWarning, match=r"sample of motor has 70003 bytes, at most 65512"
        ):
            assert not node.watch("motor", text="x" * 70_000)
        # A second warning would be an error.
        assert not any(node.watch("motor", text="x" * 70_000) for _ in range(9))
        assert node.watch("motor", text="y")
        ledger = dac.eventually("long", "motor", lambda ledger: ledger["received"] == 2)
    assert (ledger["missing"], [gap["cause"] for gap in ledger["gaps"]]) == (10, ["invalid_row"])


def test_samples_after_the_shutdown_are_refused_and_say_so_once(dac: Dac) -> None:
    builder = NodeBuilder("ended")
    motor, arrays = builder.pushed("motor", Motor), builder.pushed("arrays", Point)
    node = builder.start(dac.channel)
    assert node.watch("pump", rpm=1)
    assert motor.flush(Motor(1, 20))
    assert arrays.flush(Point(1))
    node.shutdown()
    samples: list[Callable[[], bool]] = [
        lambda: node.watch("pump", rpm=2),
        lambda: node.watch("new", rpm=2),
        lambda: motor.flush(Motor(2, 20)),
        lambda: bool(arrays.flush_arrays({"x": [1, 2, 3]})),
    ]
    for sample in samples:
        with pytest.warns(oasis.NodeEndedWarning, match="after the shutdown of its node is refused"):
            assert not sample()
        # A second warning would be an error. The ring has room for thousands.
        assert not any(sample() for _ in range(9))
    for name in ("pump", "motor", "arrays"):
        ledger = dac.eventually("ended", name, lambda ledger: ledger["received"] == 1)
        assert (ledger["last_sequence"], ledger["missing"]) == (1, 0)


def test_a_sample_after_the_last_ones_of_a_program_says_so(dac: Dac) -> None:
    program = """
import atexit
atexit.register(lambda: print([oasis.watch("pump", rpm=2) for _ in range(3)]))
import oasis
print(oasis.watch("pump", rpm=1))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "OASIS_DAC": dac.channel, "OASIS_NODE_NAME": "at exit"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["True", "[False, False, False]"], done.stderr
    assert done.stderr.count("NodeEndedWarning") == 1, done.stderr
    dac.eventually("at exit", "pump", lambda ledger: ledger["received"] == 1)


def test_a_long_sample_of_a_class_says_so_once(dac: Dac) -> None:
    builder = NodeBuilder("long class")
    motor = builder.pushed("motor", Motor, ring_bytes=1_000)
    with builder.start(dac.channel):
        with pytest.warns(
            oasis.SampleTooLongWarning, match="sample of Motor has .* at most 976: .* ring_bytes"
        ):
            assert not motor.flush(Motor(1, 1.5, name="x" * 1_000))
        assert not motor.flush(Motor(1, 1.5, name="x" * 1_000))
        assert motor.flush(Motor(1, 1.5))
        dac.eventually(
            "long class", "motor", lambda ledger: (ledger["received"], ledger["missing"]) == (1, 2)
        )


def test_a_program_with_several_nodes_says_which(dac: Dac) -> None:
    with NodeBuilder("one").start(dac.channel) as one, NodeBuilder("two").start(dac.channel):
        with pytest.raises(ValueError, match="several nodes"):
            oasis.watch("motor", rpm=1)
        assert one.watch("motor", rpm=1)
        dac.eventually("one", "motor", lambda ledger: ledger["received"] == 1)
    with pytest.warns(oasis.NodeEndedWarning, match="other after the shutdown"):
        assert not one.watch("other", rpm=1)


def test_a_class_that_is_no_probe_type_is_refused_with_the_remedy() -> None:
    class Plain:
        rpm: int

    with pytest.raises(TypeError, match=r"Plain is no probe type: decorate it with @oasis\.probe"):
        NodeBuilder("plain").pushed("motor", Plain)
    with pytest.raises(TypeError, match=r"Wrong\.loads is dict.*cannot be a metric"):
        oasis.probe(type("Wrong", (), {"__annotations__": {"loads": dict}}))
    with pytest.raises(TypeError, match=r"Wrong\.load: call"):
        oasis.probe(type("Wrong", (), {"__annotations__": {"load": Annotated[float, oasis.Unit]}}))
    hint = Annotated[int, oasis.As("uint8"), oasis.Range(-40)]
    with pytest.raises(ValueError, match="uint8 cannot be"):
        oasis.probe(type("Wrong", (), {"__annotations__": {"load": hint}}))
