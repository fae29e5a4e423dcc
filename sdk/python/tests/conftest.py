"""Nothing is left beside the generated modules, and one DAC serves the tests of a module."""

import sys
from collections.abc import Iterator

import pytest
from dac import Dac, dac

sys.dont_write_bytecode = True


@pytest.fixture(scope="module", name="dac")
def one_dac() -> Iterator[Dac]:
    with dac() as running:
        yield running
