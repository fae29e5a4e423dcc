"""Spans of a program, and a real DAC."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from dac import Dac

import oasis
from oasis.node import NodeBuilder


def by_name(samples: list[Any]) -> dict[str, Any]:
    return {sample["name"]: sample for sample in samples}


def test_a_span_tells_how_long_it_took_and_what_it_was_a_part_of(dac: Dac) -> None:
    builder = NodeBuilder("timing")
    builder.spans()
    with builder.start(dac.channel):
        with oasis.span("turn", number=4) as turn:
            with oasis.span("step"):
                pass
            turn.set(found=[1, 2])
        spans = by_name(dac.tail("timing/spans", 2))
    assert spans["turn"]["fields"] == [{"name": "number", "value": "4"}, {"name": "found", "value": "[1, 2]"}]
    assert spans["step"]["parent"] == spans["turn"]["id"]
    assert spans["turn"]["parent"] == 0
    assert 0 < spans["step"]["duration"] <= spans["turn"]["duration"]
    assert (spans["turn"]["target"], spans["turn"]["thread"]) == ("test_spans", "MainThread")


def test_an_exception_is_the_outcome_of_a_span_and_goes_on(dac: Dac) -> None:
    builder = NodeBuilder("failing")
    builder.spans()

    @oasis.span("step")
    def step(number: int) -> int:
        if number == 0:
            raise OSError("unplugged")
        return number

    with builder.start(dac.channel):
        assert step(7) == 7
        with pytest.raises(OSError, match="unplugged"):
            step(0)
        good, bad = dac.tail("failing/spans", 2)
    assert (good["outcome"], bad["outcome"]) == (0, 1)
    assert bad["fields"] == [{"name": "exception", "value": "OSError"}]


def test_a_coroutine_is_one_span_until_it_returns_and_others_do_not_get_in_between(dac: Dac) -> None:
    builder = NodeBuilder("awaiting")
    builder.spans()

    @oasis.span("outer")
    async def outer(name: str, mine: asyncio.Event, other: asyncio.Event) -> None:
        mine.set()
        await other.wait()
        with oasis.span(name):
            pass

    async def both() -> None:
        events = asyncio.Event(), asyncio.Event()
        await asyncio.gather(outer("a", *events), outer("b", *reversed(events)))

    with builder.start(dac.channel):
        asyncio.run(both())
        spans = dac.tail("awaiting/spans", 4)
    outers = {span["id"] for span in spans if span["name"] == "outer"}
    assert {span["parent"] for span in spans if span["name"] in "ab"} == outers


def test_a_function_that_calls_itself_has_a_span_for_each_call() -> None:
    depths = []

    @oasis.span("down")
    def down(left: int) -> None:
        depths.append(oasis.spans.current_path())
        if left:
            down(left - 1)

    down(2)
    assert depths == ["down", "down:down", "down:down:down"]


def test_a_span_lasts_once() -> None:
    once = oasis.span("once")
    with once, pytest.raises(RuntimeError, match="has already begun"), once:
        pass
