//! The wall clock of the DAC jumps.

use super::Scenario;
use crate::faults::{
    system::clock::ShiftedClock,
    waiting::{RECOVERY_TIMEOUT, until},
    world::World,
};
use std::{fs, io, path::Path, thread, time::Duration};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "clock-forward",
        about: "the DAC's clock is 40 days ahead for 60 s (needs cc): nothing may be deleted",
        is_quick: false,
        run: |world| jump(world, |clock| clock.forward(40 * DAY)),
    },
    Scenario {
        name: "clock-back",
        about: "the DAC's clock is one day late for 60 s (needs cc)",
        is_quick: true,
        run: |world| jump(world, |clock| clock.back(DAY)),
    },
    Scenario {
        name: "restart-in-jump",
        about: "the DAC restarts while its clock is 40 days ahead (needs cc)",
        is_quick: false,
        run: restart_in_jump,
    },
];

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A DAC with a clock of its own and an archive of small files, and a node; nothing without a compiler.
fn with_clock(world: &mut World) -> anyhow::Result<Option<ShiftedClock>> {
    let clock = match ShiftedClock::build(world.folder()) {
        Ok(clock) => clock,
        Err(error) => {
            world.outcome.skipped = Some(format!("{error:#}"));
            return Ok(None);
        }
    };
    world.settings.variables = clock.variables();
    world.settings.more = "segment_bytes = 65536\n".into();
    world.start_pair()?;
    // Some files must be sealed: only these are deleted as a whole.
    let archive = world.settings.archive.clone();
    until("three segment files", RECOVERY_TIMEOUT, || match segment_files(&archive) {
        Ok(files) if files >= 3 => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    world.settle()?;
    Ok(Some(clock))
}

/// Counts the segment files of an archive; all but one for each writer are sealed.
fn segment_files(archive: &Path) -> io::Result<usize> {
    let names = fs::read_dir(archive)?.map(|entry| Ok(entry?.path()));
    let names = names.collect::<io::Result<Vec<_>>>()?;
    Ok(names.iter().filter(|path| path.extension().is_some_and(|extension| extension == "oseg")).count())
}

fn jump(world: &mut World, jump: impl FnOnce(&ShiftedClock) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let Some(clock) = with_clock(world)? else { return Ok(()) };
    jump(&clock)?;
    thread::sleep(world.scaled(60.0).max(Duration::from_secs(3)));
    clock.mend()?;
    world.recover()
}

fn restart_in_jump(world: &mut World) -> anyhow::Result<()> {
    let Some(clock) = with_clock(world)? else { return Ok(()) };
    clock.forward(40 * DAY)?;
    world.kill_dac()?;
    world.start_dac()?;
    thread::sleep(world.scaled(60.0).max(Duration::from_secs(3)));
    clock.mend()?;
    world.recover()
}
