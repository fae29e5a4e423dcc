"""What docs/sdk/python.md shows is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from engine import Cylinder, Engine

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "sdk" / "python.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_its_classes_are_generated_from_its_pdl() -> None:
    (pdl,) = blocks("pdl")
    assert pdl == (ROOT / "crates" / "pdl-gen" / "tests" / "python" / "engine.pdl").read_text()


def test_its_examples_run() -> None:
    names: dict[str, object] = {}
    for code in blocks("python"):
        # Compiled only: it needs a DAC.
        run = compile(code, "python.md", "exec")
        if "127.0.0.1" not in code:
            exec(run, names)  # noqa: S102
    assert isinstance(names["octets"], bytes)


@pytest.mark.parametrize("sample", [Engine(speed=70_000), Engine(cylinders=[Cylinder("hot")])])  # type: ignore[arg-type]
def test_values_are_refused_as_it_says(sample: Engine) -> None:
    with pytest.raises(ValueError, match="Plant::Engine") as raised:
        sample.to_row()
    assert f"  {raised.value}\n" in PAGE


@pytest.mark.parametrize("row", [b"\x04\0\0\0", b"\0\0\0\x01\0"])
def test_bytes_are_refused_as_it_says(row: bytes) -> None:
    with pytest.raises(ValueError, match="offset") as raised:
        Engine.from_row(row)
    assert f"  {raised.value}\n" in PAGE
