"""Samples as numpy arrays."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from dac import Dac
from shapes import Enums, Mode, Nothing, ShapesNumbers, Texts, Trend, Words

from oasis import arrays, batch
from oasis.node import NodeBuilder

NODE_TIME = 1_763_683_200_000_000_000
WORDS = ("class", "type", "def", "self", "delete", "read", "write", "name", "from", "operator", "None")


def words(count: int) -> dict[str, Any]:
    return {name: np.arange(count, dtype=np.int32) + number for number, name in enumerate(WORDS)}


def test_an_array_has_the_bytes_of_packed_rows() -> None:
    sample = ShapesNumbers(-1, -2, 3, -4, 5.5, 6, -7, True, 8, 9.25, 10)
    array = np.frombuffer(sample.to_row(), arrays.dtype(ShapesNumbers))
    assert array["real64_value"] == 5.5
    assert array["boolean_value"]
    assert arrays.rows(ShapesNumbers, array) == (sample.to_row(), 1)


def test_columns_become_rows_whatever_number_type_holds_their_values() -> None:
    columns = words(3)
    columns["class"] = [1, 2, 3]
    columns["type"] = np.array([4, 5, 6], dtype=">u8")
    packed, count = arrays.rows(Words, columns)
    first = Words.from_row(packed[: len(packed) // 3])
    assert (count, first.class_, first.type, first.def_) == (3, 1, 4, 2)


def test_a_batch_is_read_as_arrays() -> None:
    samples = [(NODE_TIME + number, Words(class_=number, operator=-number)) for number in range(1_000)]
    made = batch.encode(Words, samples, first_sequence=7, node_time=NODE_TIME)
    read = batch.decode_arrays(Words, made)
    assert read.sequence.tolist() == list(range(7, 1_007))
    assert read.time.tolist() == [time for time, _ in samples]
    assert read.samples["operator"].tolist() == [-number for number in range(1_000)]
    assert read.samples.dtype == arrays.dtype(Words)


def test_metrics_without_a_fixed_size_are_refused_and_the_others_can_be_read() -> None:
    sample = Enums(Mode.UP, Trend.RISING, [Trend.LEVEL])
    made = batch.encode(Enums, [(NODE_TIME, sample)], first_sequence=1, node_time=NODE_TIME)
    with pytest.raises(TypeError, match=r"Shapes::Enums\.trends is a vector"):
        batch.decode_arrays(Enums, made)
    read = batch.decode_arrays(Enums, made, metrics=("trend", "mode"))
    assert read.samples.tolist() == [(300, 7)]
    with pytest.raises(ValueError, match="no metric 'color': it has mode, trend, trends"):
        batch.decode_arrays(Enums, made, metrics=("color",))
    with pytest.raises(TypeError, match=r"Shapes::Texts\.text is a string"):
        arrays.dtype(Texts)


def test_samples_without_metrics_are_only_numbers_and_times() -> None:
    made = batch.encode(Nothing, [(NODE_TIME, Nothing())] * 3, first_sequence=1, node_time=NODE_TIME)
    read = batch.decode_arrays(Nothing, made)
    assert (read.sequence.tolist(), len(read.samples)) == ([1, 2, 3], 3)


@pytest.mark.parametrize(
    ("column", "error", "says"),
    [
        ([1, 2**31], ValueError, "Shapes::Inner::Words.class: 1 to 2147483648 is not within"),
        ([1.5, 2.5], TypeError, "Shapes::Inner::Words.class: expected an array of int32, got float64"),
        (["a", "b"], TypeError, "Shapes::Inner::Words.class: expected an array of int32, got <U1"),
        ([1, 2, 3], ValueError, "different lengths: [2, 3]"),
    ],
)
def test_columns_that_do_not_fit_are_refused(column: list[Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        arrays.rows(Words, {**words(2), "class": column})


def test_columns_that_are_missing_or_too_many_are_named() -> None:
    with pytest.raises(ValueError, match="; no metric: color"):
        arrays.rows(Words, {**words(2), "color": [1, 2]})


def test_arrays_are_flushed_in_one_call_each_sample_at_its_time(dac: Dac) -> None:
    builder = NodeBuilder("arrays")
    probe = builder.pushed("words", Words, ring_bytes=1 << 20)
    time = NODE_TIME + np.arange(500) * 1_000
    with builder.start(dac.channel):
        assert probe.flush_arrays(words(500), time) == 500
        assert probe.flush_arrays(np.zeros(3, arrays.dtype(Words))) == 3
        samples = dac.tail("arrays/words", 503)
        with pytest.raises(ValueError, match="500 samples need as many times"):
            probe.flush_arrays(words(500), time[:3])
    assert [sample["class"] for sample in samples] == [*range(500), 0, 0, 0]
    assert samples[499]["None"] == 509


def test_what_finds_no_room_is_counted(dac: Dac) -> None:
    builder = NodeBuilder("narrow")
    probe = builder.pushed("words", Words, ring_bytes=1_000)
    found_room = probe.flush_arrays(words(100))
    assert 0 < found_room < 100
    with builder.start(dac.channel):
        dac.eventually("narrow", "words", lambda ledger: ledger["received"] == found_room)
        assert probe.flush_arrays(words(1)) == 1
        ledger = dac.eventually("narrow", "words", lambda ledger: ledger["received"] == found_room + 1)
    assert (ledger["missing"], ledger["unexplained"]) == (100 - found_room, 0)


def test_nothing_else_needs_numpy() -> None:
    without = "import sys; sys.modules['numpy'] = None; import oasis.node, oasis.batch, oasis.logging"
    subprocess.run([sys.executable, "-c", without], check=True)
