//! Threads of the DAC and of nodes panic.

use super::Scenario;
use crate::faults::{
    system::panics::Panics,
    waiting::{RECOVERY_TIMEOUT, until},
    world::World,
};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "panics-in-dac",
        about: "each thread of the DAC panics in turn, 20 times (needs cc)",
        is_quick: true,
        run: |world| panics(world, DAC, Process::Dac),
    },
    Scenario {
        name: "panics-in-node",
        about: "each thread of a node panics in turn, 20 times (needs cc)",
        is_quick: true,
        run: |world| panics(world, NODE, Process::Node),
    },
];

/// Threads of a DAC with an archive. Those of the runtime run tasks, whose panics end the task alone.
const DAC: &[&str] = &["archive", "roll-ups", "oasis-shard-0", "oasis-watchdog"];
/// Threads of a node with a file spool.
const NODE: &[&str] = &["oasis-collector", "oasis-spooler", "oasis-shipper", "oasis-listener"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    Dac,
    Node,
}

fn panics(world: &mut World, threads: &[&str], of: Process) -> anyhow::Result<()> {
    let panics = match Panics::build(world.folder(), "panics") {
        Ok(panics) => panics,
        Err(error) => {
            world.outcome.skipped = Some(format!("{error:#}"));
            return Ok(());
        }
    };
    match of {
        Process::Dac => world.settings.variables = panics.variables(),
        Process::Node => world.node_variables = panics.variables(),
    }
    world.start_pair()?;
    for _ in 0..world.repeated(20) {
        for thread in threads {
            panics.plant(thread)?;
            until("the thread panics", RECOVERY_TIMEOUT, || match panics.has_happened() {
                Ok(true) => Ok(()),
                Ok(false) => Err(format!("{thread} has not asked for the time")),
                Err(error) => Err(format!("{error:#}")),
            })?;
            world.recover()?;
        }
    }
    // The samples that the thread was handling are gone, and declared.
    world.outcome.justified.extend(["ring_full", "spool_full"]);
    Ok(())
}
