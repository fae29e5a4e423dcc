"""The wheel: installed without Rust, and a program of the page."""

from __future__ import annotations

import time
import zipfile

import pytest
from conftest import DIST, Dac, Workplace
from pages import block, commands

# From an empty virtual environment to the first sample at the DAC, on a machine that does nothing else.
TARGET_SECONDS = 20


def test_a_program_of_the_page_runs_soon_and_needs_no_rust(
    workplace: Workplace, dac: Dac, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.take("oasis_monitor-*manylinux*.whl")
    workplace.hide("cargo")
    workplace.hide("rustc")
    workplace.write("engine.pdl", block("sdk/python.md", "pdl"))
    workplace.write("machine.py", dac.at(block("sdk/python.md", "python", "builder.pushed(")))
    started = time.monotonic()
    install = commands("sdk/python.md", "pip install oasis_monitor")
    run = commands("sdk/python.md", "python machine.py")
    workplace.run("\n".join([*install, *run]))
    dac.until_received("machine", "engine 1")
    elapsed = time.monotonic() - started
    with capsys.disabled():
        print(f"wheel to first sample: {elapsed:.1f} s")
    # A machine that builds beside this takes longer.
    assert elapsed < 6 * TARGET_SECONDS


def test_history_is_a_table_with_its_extra(workplace: Workplace, dac: Dac) -> None:
    workplace.take("oasis_monitor-*manylinux*.whl")
    dac.until_received("my-host", "processor", 2)
    read = 'import oasis; frame = oasis.history("my-host/processor", url="http://127.0.0.1:7070")'
    workplace.write(
        "read.py", dac.at(f"{read}\nprint(type(frame).__module__, len(frame) > 1, 'user_time' in frame)\n")
    )
    printed = workplace.run(
        "python3 -m venv venv && . venv/bin/activate\n"
        "pip install --quiet 'oasis-monitor[history]' --find-links .\n"
        "python read.py"
    )
    assert printed.splitlines()[-1].startswith("pandas"), printed
    assert printed.endswith("True True\n"), printed


def test_the_wheel_has_types_and_is_for_every_python_and_old_systems() -> None:
    (wheel,) = DIST.glob("oasis_monitor-*manylinux*.whl")
    assert "-cp310-abi3-manylinux" in wheel.name
    assert "manylinux_2_17" in wheel.name
    for musl in DIST.glob("oasis_monitor-*musllinux*.whl"):
        assert "-cp310-abi3-musllinux_1_2_" in musl.name
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        about = files.read(metadata).decode()
    assert {"oasis/py.typed", "oasis/_native.pyi"} <= set(names)
    assert any(name.endswith("/LICENSE") for name in names)
    (licenses,) = (name for name in names if name.endswith("/licenses.txt"))
    with zipfile.ZipFile(wheel) as files:
        assert b"pyo3" in files.read(licenses)
    assert "Requires-Python: >=3.10" in about
    assert {f"Provides-Extra: {extra}" for extra in ("numpy", "history", "arrow")} <= set(about.splitlines())


def test_the_source_distribution_has_all_that_a_build_reads(workplace: Workplace) -> None:
    archive = workplace.take("oasis_monitor-*.tar.gz")
    workplace.run(f"tar xf {archive.name}; cd {archive.name.removesuffix('.tar.gz')}; cargo check --quiet")
