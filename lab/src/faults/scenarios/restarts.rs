//! A DAC that is away while nodes continue, and comes back to their backlog.

use super::Scenario;
use crate::faults::{
    system::source::SourceSettings,
    waiting::{RECOVERY_TIMEOUT, until},
    world::{World, instance},
};
use std::{thread, time::Duration};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "restart-dac",
        about: "SIGTERM to the DAC and a new one, 50 times",
        is_quick: true,
        run: restart_dac,
    },
    Scenario {
        name: "backlog",
        about: "the DAC is away for 120 s; three nodes with file spools",
        is_quick: false,
        run: backlog,
    },
    Scenario {
        name: "kill-in-backlog",
        about: "kill -9 of the DAC right after it received a part of a backlog of 120 s",
        is_quick: true,
        run: kill_in_backlog,
    },
    Scenario {
        name: "small-spool",
        about: "the DAC is away for longer than a spool of 64 KiB lasts: what is dropped is declared",
        is_quick: true,
        run: small_spool,
    },
];

fn restart_dac(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    for _ in 0..world.repeated(50) {
        thread::sleep(world.random.millis(0..500));
        world.note_audit()?;
        world.stop_dac()?;
        world.start_dac()?;
        world.recover()?;
    }
    Ok(())
}

/// Three nodes, and a DAC that has gone for a while.
fn away(world: &mut World) -> anyhow::Result<()> {
    world.start_dac()?;
    for name in ["plant-1", "plant-2", "plant-3"] {
        let settings = world.spooling_settings(name);
        world.start_node(settings)?;
    }
    world.settle()?;
    world.stop_dac()?;
    thread::sleep(world.scaled(120.0));
    Ok(())
}

fn backlog(world: &mut World) -> anyhow::Result<()> {
    away(world)?;
    world.start_dac()?;
    world.recover()
}

fn kill_in_backlog(world: &mut World) -> anyhow::Result<()> {
    away(world)?;
    for _ in 0..3 {
        world.start_dac()?;
        let some = world.random.within(100..10_000);
        until("some of the backlog is received", RECOVERY_TIMEOUT, || {
            let shown = world.dac().and_then(|dac| instance(dac, "plant-1")).unwrap_or_default();
            let received = shown["ledger"]["received"].as_u64();
            if received > Some(some) { Ok(()) } else { Err(shown["ledger"]["received"].clone()) }
        })?;
        world.kill_dac()?;
    }
    world.start_dac()?;
    world.recover()
}

fn small_spool(world: &mut World) -> anyhow::Result<()> {
    world.outcome.justified.push("spool_full");
    world.start_dac()?;
    let settings = world.node_settings("plant");
    world.start_node(SourceSettings { hertz: 2_000, spool_bytes: 64 * 1024, ..settings })?;
    world.settle()?;
    world.stop_dac()?;
    thread::sleep(world.scaled(120.0).max(Duration::from_secs(10)));
    world.start_dac()?;
    world.recover()?;
    world.finish_nodes()
}
