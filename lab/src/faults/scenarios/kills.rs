//! `kill -9` of processes.

use super::Scenario;
use crate::faults::{judge::account::DIED_WITH_NODE, system::source::SourceSettings, world::World};
use std::thread;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "kill-dac",
        about: "kill -9 of the DAC, 1,000 times; archive and file spool",
        is_quick: false,
        run: kill_dac,
    },
    Scenario {
        name: "kill-node",
        about: "kill -9 of a node with a file spool, 100 times",
        is_quick: true,
        run: kill_node,
    },
    Scenario {
        name: "kill-both",
        about: "kill -9 of node and DAC at the same time, 100 times; archive and file spool",
        is_quick: true,
        run: kill_both,
    },
    Scenario {
        name: "kill-dac-small-files",
        about: "kill -9 of the DAC, 100 times, while it begins a new file every second",
        is_quick: false,
        run: kill_dac_small_files,
    },
    Scenario {
        name: "kill-dac-many-nodes",
        about: "kill -9 of the DAC, 50 times, with twelve nodes",
        is_quick: false,
        run: kill_dac_many_nodes,
    },
    Scenario {
        name: "kill-dac-no-spool",
        about: "kill -9 of the DAC, 100 times; the node keeps its batches in memory",
        is_quick: true,
        run: kill_dac_no_spool,
    },
];

fn kill_dac(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    kill_dac_again(world, 1_000)
}

/// Kills the DAC as often as the scale says, and waits for each recovery.
fn kill_dac_again(world: &mut World, full: u32) -> anyhow::Result<()> {
    for _ in 0..world.repeated(full) {
        thread::sleep(world.random.millis(0..400));
        world.note_audit()?;
        world.kill_dac()?;
        world.start_dac()?;
        world.recover()?;
    }
    Ok(())
}

fn kill_dac_small_files(world: &mut World) -> anyhow::Result<()> {
    world.settings.more = "segment_seconds = 1\n".into();
    world.start_pair()?;
    kill_dac_again(world, 100)
}

fn kill_dac_many_nodes(world: &mut World) -> anyhow::Result<()> {
    world.start_dac()?;
    for number in 1..=12 {
        let settings = world.spooling_settings(&format!("plant-{number}"));
        world.start_node(SourceSettings { hertz: 200, ..settings })?;
    }
    world.settle()?;
    kill_dac_again(world, 50)
}

fn kill_node(world: &mut World) -> anyhow::Result<()> {
    // Samples in the ring, or in a batch that waits for others, are in no file yet.
    world.outcome.justified.push(DIED_WITH_NODE);
    world.outcome.justified.push("node_restart");
    world.start_pair()?;
    for _ in 0..world.repeated(100) {
        thread::sleep(world.random.millis(0..500));
        let settings = world.kill_node(0);
        world.start_node(settings)?;
        world.recover()?;
    }
    Ok(())
}

fn kill_both(world: &mut World) -> anyhow::Result<()> {
    world.outcome.justified.push(DIED_WITH_NODE);
    world.outcome.justified.push("node_restart");
    world.start_pair()?;
    for _ in 0..world.repeated(100) {
        thread::sleep(world.random.millis(0..500));
        world.note_audit()?;
        let settings = world.kill_node(0);
        world.kill_dac()?;
        world.start_dac()?;
        world.start_node(settings)?;
        world.recover()?;
    }
    Ok(())
}

fn kill_dac_no_spool(world: &mut World) -> anyhow::Result<()> {
    world.start_dac()?;
    let settings = world.node_settings("plant");
    world.start_node(settings)?;
    world.settle()?;
    kill_dac_again(world, 100)
}
