"""A node inside a Python program, and a real DAC."""

from __future__ import annotations

from pathlib import Path

import pytest
from dac import Dac
from shapes import Enums, Mode, ShapesNumbers, Texts, Trend

import oasis
from oasis.node import NodeBuilder, now


def test_every_flushed_sample_arrives(dac: Dac) -> None:
    builder = NodeBuilder("pushing")
    probe = builder.pushed("enums", Enums)
    with builder.start(dac.channel):
        assert all(probe.flush(Enums(Mode.UP, Trend.RISING, [Trend.LEVEL])) for _ in range(500))
        ledger = dac.eventually("pushing", "enums", lambda ledger: ledger["received"] == 500)
    assert ledger["node"]["ring_full"] == 0


def test_what_finds_no_room_is_dropped_and_counted(dac: Dac) -> None:
    builder = NodeBuilder("overflowing")
    probe = builder.pushed("texts", Texts, ring_bytes=200)
    taken = [probe.flush(Texts("x" * 50)) for _ in range(4)]
    assert taken == [True, True, False, False]
    with builder.start(dac.channel):
        # The DAC sees a gap when the next sample arrives.
        dac.eventually("overflowing", "texts", lambda ledger: ledger["received"] == 2)
        assert probe.flush(Texts("next"))
        ledger = dac.eventually("overflowing", "texts", lambda ledger: ledger["received"] == 3)
    assert (ledger["missing"], ledger["unexplained"], ledger["node"]["ring_full"]) == (2, 0, 2)


def test_a_name_that_another_node_has_is_an_error(dac: Dac) -> None:
    builder = NodeBuilder("twice")
    builder.pushed("texts", Texts)
    with builder.start(dac.channel):
        dac.eventually("twice", "texts", lambda ledger: ledger["received"] == 0)
        other = NodeBuilder("twice")
        other.pushed("texts", Texts)
        with (
            pytest.warns(oasis.RefusedWarning, match="the DAC refuses node 'twice'.*name_taken"),
            pytest.raises(ConnectionRefusedError, match="name_taken"),
            other.start(dac.channel),
        ):
            pass


def test_a_file_says_who_the_node_is_and_what_it_watches(dac: Dac, tmp_path: Path) -> None:
    file = tmp_path / "node.toml"
    heartbeat = 'probes = [{ probe = "heartbeat", hertz = 50 }]'
    file.write_text(f'[node]\nname = "configured"\ndac = "{dac.channel}"\n{heartbeat}\n')
    builder = NodeBuilder(config=file)
    probe = builder.pushed("texts", Texts)
    with builder.start():
        assert probe.flush(Texts("x"))
        dac.eventually("configured", "texts", lambda ledger: ledger["received"] == 1)
        dac.eventually("configured", "heartbeat", lambda ledger: ledger["received"] > 3)


def test_what_is_wrong_with_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        NodeBuilder(config=tmp_path / "nowhere.toml")
    file = tmp_path / "node.toml"
    file.write_text('[node]\nnmae = "x"\n')
    with pytest.raises(ValueError, match="nmae"):
        NodeBuilder(config=file)


def test_a_periodic_probe_is_called_and_obeys(dac: Dac) -> None:
    calls = 0

    def measure() -> Texts:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError("unplugged")
        return Texts(str(calls))

    builder = NodeBuilder("periodic")
    builder.periodic("texts", Texts, 50.0, measure)
    with builder.start(dac.channel):
        dac.eventually("periodic", "texts", lambda ledger: ledger["received"] >= 5)
        outcome = dac.command("periodic", "texts", command="hertz", hertz=100)
        assert outcome["hertz"] == 100.0
    assert calls > 5


def test_a_sample_keeps_the_time_of_its_caller(dac: Dac) -> None:
    before = now()
    builder = NodeBuilder("timed")
    probe = builder.pushed("enums", Enums)
    with builder.start(dac.channel):
        assert probe.flush(Enums(), time=before)
        dac.eventually("timed", "enums", lambda ledger: ledger["received"] == 1)


def test_a_value_that_does_not_fit_is_refused_before_the_ring() -> None:
    probe = NodeBuilder("refusing").pushed("texts", Texts)
    with pytest.raises(oasis.EncodeError, match=r"Shapes::Texts\.text"):
        probe.flush(Texts("\ud800"))


def test_instances_have_names_of_their_own() -> None:
    builder = NodeBuilder("twice")
    builder.pushed("one", Texts)
    with pytest.raises(ValueError, match='duplicate instance "one" of node "twice"'):
        builder.pushed("one", Enums)


@pytest.mark.parametrize("ring_bytes", [2**30 + 1, 2**64 - 1])
def test_a_ring_has_limits(ring_bytes: int) -> None:
    with pytest.raises(
        ValueError, match=r'cannot allocate a ring of .* for "texts": the limit is 1073741824'
    ):
        NodeBuilder("huge").pushed("texts", Texts, ring_bytes=ring_bytes)


def test_a_flight_recorder_sends_what_lies_around_a_trigger(dac: Dac) -> None:
    builder = NodeBuilder("recording")
    probe = builder.pushed("numbers", ShapesNumbers)
    # Room for three samples.
    row = len(ShapesNumbers().to_row())
    builder.record("numbers", ["uint8_value > 90"], before=60, after=0, memory_bytes=3 * (row + 32))
    builder.importance("numbers", 9)
    for value in [20] * 10 + [95]:
        assert probe.flush(ShapesNumbers(uint8_value=value))
    with builder.start(dac.channel):
        ledger = dac.eventually("recording", "numbers", lambda ledger: ledger["received"] == 4)
        assert (ledger["missing"], ledger["unexplained"]) == (7, 0)
        assert [gap["cause"] for gap in ledger["gaps"]] == ["kept_back"]


@pytest.mark.parametrize("trigger", ["color > 1", "uint8_value is high"])
def test_a_trigger_names_a_metric_and_a_limit(trigger: str) -> None:
    builder = NodeBuilder("recording")
    builder.pushed("numbers", ShapesNumbers)
    with pytest.raises(ValueError, match=trigger.split()[0]):
        builder.record("numbers", [trigger])


def test_a_full_ring_can_drop_the_oldest(dac: Dac) -> None:
    builder = NodeBuilder("overwriting")
    probe = builder.pushed("texts", Texts, ring_bytes=200, overflow="drop-oldest")
    assert all(probe.flush(Texts("x" * 50)) for _ in range(4))
    with builder.start(dac.channel):
        ledger = dac.eventually("overwriting", "texts", lambda ledger: ledger["received"] == 2)
    assert (ledger["missing"], ledger["unexplained"], ledger["node"]["ring_full"]) == (2, 0, 2)


def test_a_flush_can_wait_for_room() -> None:
    probe = NodeBuilder("waiting").pushed("texts", Texts, ring_bytes=100, overflow=0.001)
    assert [probe.flush(Texts("x" * 50)) for _ in range(2)] == [True, False]


def test_a_probe_on_change_keeps_what_changed_with_the_state_it_was_in(dac: Dac) -> None:
    builder = NodeBuilder("changing")
    probe = builder.on_change("texts", Texts)
    with builder.start(dac.channel):
        for turn in range(10):
            probe.set_state(turn // 8)
            assert probe.flush(Texts(str(turn // 5)))
        ledger = dac.eventually("changing", "texts", lambda ledger: ledger["received"] == 2)
    assert ledger["missing"] == 0


def test_an_event_arrives(dac: Dac) -> None:
    builder = NodeBuilder("happening")
    probe = builder.event("texts", Texts)
    with builder.start(dac.channel):
        assert probe.flush(Texts("door opened"))
        dac.eventually("happening", "texts", lambda ledger: ledger["received"] == 1)


def test_a_deadband_is_of_a_number_and_a_policy_has_a_name() -> None:
    builder = NodeBuilder("refusing")
    with pytest.raises(ValueError, match='metric "text" is not a number'):
        builder.on_change("texts", Texts, {"text": 1.0})
    with pytest.raises(ValueError, match="use drop-newest, drop-oldest"):
        builder.pushed("texts", Texts, overflow="drop-all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="invalid overflow of -1 s"):
        builder.pushed("texts", Texts, overflow=-1.0)


def test_a_rate_has_limits() -> None:
    with pytest.raises(ValueError, match="1,000 Hz"):
        NodeBuilder("fast").periodic("texts", Texts, 5_000.0, Texts)


def test_a_builder_makes_one_node() -> None:
    builder = NodeBuilder("once")
    builder.start("127.0.0.1:1").shutdown()
    with pytest.raises(RuntimeError, match="a builder makes only one node"):
        builder.start("127.0.0.1:1")
