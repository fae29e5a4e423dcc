"""A program that logs as it always did, and a real DAC."""

from __future__ import annotations

import inspect
import logging
import logging.config
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dac import Dac

import oasis
from oasis.logging import Handler
from oasis.node import NodeBuilder


@contextmanager
def handled(logger: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def test_a_record_arrives_with_all_that_it_says(dac: Dac) -> None:
    builder = NodeBuilder("saying")
    logger = logging.getLogger("plant.pump")
    with handled(logger, Handler(builder)), builder.start(dac.channel):
        with oasis.span("turn"), oasis.span("pump"):
            logger.warning("pressure is %s", "high", extra={"bar": 8.1})
            line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
        [sample] = dac.tail("saying/log", 1)
    assert Path(sample.pop("file")).name == "test_logging.py"
    assert sample == {
        "level": 13,
        "target": "plant.pump",
        "message": "pressure is high",
        "line": line,
        "thread": "MainThread",
        "span": "turn:pump",
        "fields": [{"name": "bar", "value": "8.1"}],
        "cut": 0,
    }


def test_levels_are_those_of_the_handler_and_become_severities(dac: Dac) -> None:
    builder = NodeBuilder("levels")
    logger = logging.getLogger("levels")
    with handled(logger, Handler(builder, level=logging.INFO)), builder.start(dac.channel):
        for level in (logging.DEBUG, logging.INFO, 25, logging.WARNING, logging.ERROR, logging.CRITICAL):
            logger.log(level, "level %s", level)
        samples = dac.tail("levels/log", 5)
    assert [sample["level"] for sample in samples] == [9, 9, 13, 17, 21]


def test_an_exception_comes_with_its_traceback(dac: Dac) -> None:
    builder = NodeBuilder("raising")
    logger = logging.getLogger("raising")
    with handled(logger, Handler(builder)), builder.start(dac.channel):
        try:
            raise ValueError("9 bar")
        except ValueError:
            logger.exception("cannot go on")
        [sample] = dac.tail("raising/log", 1)
    assert sample["message"].startswith("cannot go on\nTraceback")
    assert sample["fields"] == [{"name": "exception", "value": "ValueError: 9 bar"}]


class Odd:
    def __str__(self) -> str:
        raise OSError("unplugged")


def test_texts_that_are_odd_or_long_arrive_as_far_as_they_go(dac: Dac) -> None:
    builder = NodeBuilder("odd")
    logger = logging.getLogger("odd")
    with handled(logger, Handler(builder)), builder.start(dac.channel):
        logger.info("half \ud800 a character", extra={"odd": Odd()})
        logger.info("x" * 10_000)
        odd, long = dac.tail("odd/log", 2)
    assert odd["message"].startswith("half ")
    assert odd["fields"][0]["value"] == "<Odd without text>"
    assert long["message"] == "x" * 2045 + "…"
    assert long["cut"] == 10_000 - 2045


def test_what_oasis_says_itself_is_left_out(dac: Dac) -> None:
    builder = NodeBuilder("own")
    root = logging.getLogger()
    with handled(root, Handler(builder)), builder.start(dac.channel):
        logging.getLogger("oasis").error("own")
        logging.getLogger("oasis.node").error("own")
        logging.getLogger("oasis_of_mine").error("mine")
        [sample] = dac.tail("own/log", 1)
    assert sample["message"] == "mine"


def test_records_of_many_threads_arrive_or_are_counted(dac: Dac) -> None:
    builder = NodeBuilder("many")
    logger = logging.getLogger("many")

    def log_often() -> None:
        for _ in range(250):
            logger.info("x" * 100)

    with handled(logger, Handler(builder, ring_bytes=4_096)):
        # Before the node runs: the ring overflows for certain.
        threads = [threading.Thread(target=log_often) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with builder.start(dac.channel):
            # The records of the ring have been sent, so there is room for one that reports the gap.
            dac.eventually("many", "log", lambda ledger: ledger["received"] > 0)
            logger.info("last")
            ledger = dac.eventually(
                "many", "log", lambda ledger: ledger["received"] + ledger["missing"] == 1_001
            )
    assert ledger["missing"] > 0
    assert (ledger["unexplained"], ledger["node"]["ring_full"]) == (0, ledger["missing"])


def test_a_disabled_probe_costs_no_more_than_a_look(dac: Dac) -> None:
    builder = NodeBuilder("off")
    logger = logging.getLogger("off")
    # The handler of pytest would ask for the text.
    logger.propagate = False
    with handled(logger, Handler(builder)), builder.start(dac.channel):
        dac.eventually("off", "log", lambda _: True)
        dac.command("off", "log", command="disable")
        # Its text would raise, but is never formatted.
        logger.info("%s", Odd())
        dac.command("off", "log", command="enable")
        logger.info("on")
        [sample] = dac.tail("off/log", 1)
    assert sample["message"] == "on"


def test_an_instance_has_a_name_of_its_own() -> None:
    builder = NodeBuilder("twice")
    builder.spans("log")
    with pytest.raises(ValueError, match='duplicate instance "log" of node "twice"'):
        Handler(builder)


def test_a_record_that_several_handlers_get_is_one_sample(dac: Dac) -> None:
    builder = NodeBuilder("doubled")
    parent, child = logging.getLogger("doubled"), logging.getLogger("doubled.child")
    handler, another = Handler(builder), Handler(builder, "other")
    with handled(parent, handler), handled(child, handler), handled(child, Handler(builder)):
        with handled(child, another), builder.start(dac.channel):
            for turn in range(3):
                child.info("turn %s", turn)
        assert [sample["message"] for sample in dac.tail("doubled/log", 3)] == ["turn 0", "turn 1", "turn 2"]
    for instance in ("log", "other"):
        assert dac.eventually("doubled", instance, lambda ledger: ledger["received"] >= 3)["received"] == 3


def test_a_logger_that_is_configured_again_goes_on(dac: Dac) -> None:
    builder = NodeBuilder("configured")
    configuration = {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"oasis": {"()": Handler, "builder": builder}},
        "loggers": {"configured": {"handlers": ["oasis"], "level": "INFO"}},
    }
    logger = logging.getLogger("configured")
    logging.config.dictConfig(configuration)
    with builder.start(dac.channel):
        logger.info("before")
        logging.config.dictConfig(configuration)
        logger.info("after")
        assert [sample["message"] for sample in dac.tail("configured/log", 2)] == ["before", "after"]
    logger.handlers.clear()
    assert dac.eventually("configured", "log", lambda _: True)["received"] == 2


def test_records_after_the_shutdown_are_refused_and_say_so_once(dac: Dac) -> None:
    builder = NodeBuilder("late")
    logger = logging.getLogger("late")
    with handled(logger, Handler(builder)):
        with builder.start(dac.channel):
            logger.info("in time")
        with pytest.warns(oasis.NodeEndedWarning, match="a sample of log after the shutdown"):
            logger.info("late")
        logger.info("later")
    assert dac.eventually("late", "log", lambda _: True)["received"] == 1
