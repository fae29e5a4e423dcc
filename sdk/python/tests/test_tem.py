"""A node inside a Python program that finds its DAC by a TEM, and goes on at another one when that is killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
from dac import Dac, dac, tem
from shapes import Texts

from oasis.node import NodeBuilder

NOBODY = "http://127.0.0.1:1"
SAMPLES = 50

Site: TypeAlias = tuple[Dac, Dac, Dac]
"""A TEM, and its DACs hall-1 and hall-2."""


@pytest.fixture(autouse=True)
def _remembered_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the list of the TEM out of the developer's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture(name="site")
def tem_and_dacs() -> Iterator[Site]:
    """Run a TEM and two DACs that it lists."""
    with ExitStack() as stack:
        naming = stack.enter_context(tem())
        names = ["hall-1", "hall-2"]
        one, other = [stack.enter_context(dac("--tem", naming.http, "--dac-name", name)) for name in names]
        naming.until_it_lists(*names)
        yield naming, one, other


def check_failover(builder: NodeBuilder, home: Dac, other: Dac) -> None:
    """Flush, kill the DAC of the node, and flush again: nothing is missing at the other one."""
    probe = builder.pushed("texts", Texts)
    with builder.start():
        assert all(probe.flush(Texts(f"before {number}")) for number in range(SAMPLES))
        home.eventually("by-tem", "texts", lambda ledger: ledger["received"] == SAMPLES)
        assert other.ledger("by-tem", "texts") is None
        home.kill()
        assert all(probe.flush(Texts(f"after {number}")) for number in range(SAMPLES))
        # Without an archive the node sends again what it did not know to be safe.
        ledger = other.eventually("by-tem", "texts", lambda ledger: ledger["received"] >= SAMPLES)
        other.until_newest("by-tem", "texts", {"text": f"after {SAMPLES - 1}", "between": False, "texts": []})
        assert ledger["unexplained"] == 0


def test_a_node_finds_its_dac_by_a_tem_and_goes_on_when_that_is_killed(site: Site) -> None:
    naming, hall_1, hall_2 = site
    builder = NodeBuilder("by-tem", tem=[NOBODY, naming.http], dac_name="hall-1")
    check_failover(builder, hall_1, hall_2)


def test_a_file_names_the_tem(site: Site, tmp_path: Path) -> None:
    naming, hall_1, hall_2 = site
    file = tmp_path / "node.toml"
    file.write_text(f'[node]\nname = "by-tem"\ntem = "{naming.http}"\ndac_name = "hall-2"\n')
    check_failover(NodeBuilder(config=file), hall_2, hall_1)
