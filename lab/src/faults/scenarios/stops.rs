//! Processes that stand still: SIGSTOP, then SIGCONT.

use super::Scenario;
use crate::faults::{system::source::SourceSettings, world::World};
use rustix::process::Signal;
use std::thread;

pub const SCENARIOS: &[Scenario] = &[
    Scenario { name: "stop-dac", about: "SIGSTOP of the DAC for 60 s", is_quick: true, run: stop_dac },
    Scenario {
        name: "stop-node",
        about: "SIGSTOP of a node for 60 s, which the program feeds",
        is_quick: true,
        run: stop_node,
    },
    Scenario {
        name: "stop-periodic-node",
        about: "SIGSTOP of a node for 60 s, which calls its probe: samples that were due count",
        is_quick: true,
        run: stop_periodic_node,
    },
];

fn stop_dac(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    world.dac()?.signal(Signal::STOP)?;
    thread::sleep(world.scaled(60.0));
    world.dac()?.signal(Signal::CONT)?;
    world.recover()
}

fn stop_node(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    stop_and_continue_node(world)
}

fn stop_and_continue_node(world: &mut World) -> anyhow::Result<()> {
    world.nodes[0].signal(Signal::STOP)?;
    thread::sleep(world.scaled(60.0));
    world.expect_ready()?;
    world.nodes[0].signal(Signal::CONT)?;
    world.recover()
}

/// A sample that was due and not taken must be declared: at least nine of ten, because the node counts in periods.
fn stop_periodic_node(world: &mut World) -> anyhow::Result<()> {
    world.start_dac()?;
    let hertz = 100;
    let settings = world.node_settings("plant");
    world.start_node(SourceSettings { hertz, periodic: true, ..settings })?;
    world.settle()?;
    let before = world.audited("plant")?;
    stop_and_continue_node(world)?;
    let due = (world.scaled(60.0).as_secs_f64() * f64::from(hertz)) as u64;
    let counted = world.audited("plant")?.saturating_sub(before);
    world.outcome.notes.insert("samples_due", due);
    if counted < due * 9 / 10 {
        let silent = due - counted;
        world.outcome.failures.push(format!("about {silent} samples that were due appear nowhere"));
    }
    // Samples that were not taken are no loss that the fault does not justify.
    world.outcome.justified.push("not_taken");
    Ok(())
}
