"""The crates: the program of the tutorial with the dependencies that it names, and a node with host probes."""

from __future__ import annotations

import pytest
from conftest import ROOT, Dac, Workplace
from pages import block

EMPTY = "[dependencies]\n"


@pytest.fixture(name="machine")
def a_program_beside_the_crates(workplace: Workplace) -> Workplace:
    """Unpack the crates beside a new program."""
    workplace.take("oasis-crates-*.tar.gz")
    workplace.run(f"{commands()[0]}; cargo new --quiet machine")
    return workplace


def commands() -> list[str]:
    """Return the two commands of the page: unpack, build."""
    return block("sdk/packages.md", "sh", "cargo --config").splitlines()


def build(machine: Workplace, dependencies: str) -> None:
    """Build the program after its dependencies have been put in the place of none."""
    manifest = machine.folder / "machine/Cargo.toml"
    text = manifest.read_text()
    assert text.endswith(EMPTY), "the tutorial puts its dependencies in the place of this"
    manifest.write_text(text.removesuffix(EMPTY) + dependencies)
    machine.run(commands()[1])
    assert str(ROOT) not in (machine.folder / "machine/Cargo.lock").read_text()


def test_the_program_of_the_tutorial_runs_with_packaged_crates(machine: Workplace, dac: Dac) -> None:
    # Without the section that takes the crates from a checkout.
    dependencies, _ = block("tutorial.md", "toml", "oasis-probe").split("# From the checkout", 1)
    machine.write("machine/loop.pdl", block("tutorial.md", "pdl", "probe ControlLoop"))
    machine.write("machine/build.rs", block("tutorial.md", "rust", "oasis_pdl_gen::build"))
    machine.write("machine/src/main.rs", dac.at(block("tutorial.md", "rust", "fn main() -> Result")))
    build(machine, dependencies)
    running = machine.start(machine.compiled / "debug/machine")
    dac.until_received("machine", "control loop", 10)
    running.kill()
    running.communicate()


def test_a_node_has_the_host_probes_of_its_configuration_file(machine: Workplace, dac: Dac) -> None:
    text = (ROOT / "crates/probes/examples/node.rs").read_text()
    machine.write(
        "machine/src/main.rs", f"{text}\n#[allow(unused_imports)]\nuse oasis_tracing::OasisLayer;\n"
    )
    names = ["oasis-ei-node", "oasis-probes", "oasis-tracing"]
    build(machine, EMPTY + "".join(f'{name} = "0.1"\n' for name in names))
    settings = f'[node]\nname = "packaged"\ndac = "{dac.channel}"\nprobes = [{{ probe = "processor" }}]\n'
    machine.write("node.toml", settings)
    running = machine.start(machine.compiled / "debug/machine", "node.toml")
    dac.until_received("packaged", "processor")
    running.kill()
    running.communicate()
