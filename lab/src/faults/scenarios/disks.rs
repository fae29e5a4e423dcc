//! Disks that are full, fail, or hang.

use super::Scenario;
use crate::faults::{
    system::{
        dac::DacProcess,
        disk::{BadSyncs, SmallDisk, SyncFault},
    },
    waiting::{RECOVERY_TIMEOUT, until},
    world::World,
};
use anyhow::Context;
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use std::{fs, thread};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "full-disk",
        about: "the archive's disk is full for 600 s (a tmpfs: needs root)",
        is_quick: true,
        run: full_disk,
    },
    Scenario {
        name: "kill-on-full-disk",
        about: "kill -9 of the DAC while the archive's disk is full for 60 s, and a start on the full disk (needs root)",
        is_quick: true,
        run: kill_on_full_disk,
    },
    Scenario {
        name: "file-too-large",
        about: "no file may grow (RLIMIT_FSIZE) for 60 s",
        is_quick: true,
        run: file_too_large,
    },
    Scenario {
        name: "failing-syncs",
        about: "each fsync returns EIO for 60 s (needs strace)",
        is_quick: true,
        run: failing_syncs,
    },
    Scenario {
        name: "hanging-syncs",
        about: "an fsync hangs for 120 s (needs strace)",
        is_quick: false,
        run: hanging_syncs,
    },
    Scenario {
        name: "kill-in-failing-syncs",
        about: "kill -9 of the DAC while each fsync returns EIO, 50 times (needs strace)",
        is_quick: true,
        run: kill_in_failing_syncs,
    },
    Scenario {
        name: "term-in-hang",
        about: "SIGTERM while an fsync hangs: the DAC must end (needs strace)",
        is_quick: true,
        run: term_in_hang,
    },
    Scenario {
        name: "damaged-file",
        about: "bytes of a closed file change while the DAC is away: what they cost is declared",
        is_quick: true,
        run: damaged_file,
    },
];

/// A DAC whose archive is on a small disk, and a node; nothing where nothing may be mounted.
fn on_small_disk(world: &mut World) -> anyhow::Result<Option<SmallDisk>> {
    let folder = world.folder().join("disk");
    let disk = match SmallDisk::mount(&folder, 48) {
        Ok(disk) => disk,
        Err(error) => {
            world.outcome.skipped = Some(format!("cannot mount a small disk: {error:#}"));
            return Ok(None);
        }
    };
    world.settings.archive = folder.join("archive");
    world.settings.more = "segment_bytes = 1048576\n".into();
    world.start_pair()?;
    Ok(Some(disk))
}

fn full_disk(world: &mut World) -> anyhow::Result<()> {
    // A long time exceeds what the topic log keeps.
    world.outcome.justified.push("disk_full");
    let Some(disk) = on_small_disk(world)? else { return Ok(()) };
    disk.fill()?;
    world.expect_not_ready("full")?;
    thread::sleep(world.scaled(600.0));
    world.expect_not_ready("full")?;
    disk.make_room()?;
    world.recover()?;
    world.judge()
}

fn kill_on_full_disk(world: &mut World) -> anyhow::Result<()> {
    world.outcome.justified.push("disk_full");
    let Some(disk) = on_small_disk(world)? else { return Ok(()) };
    disk.fill()?;
    world.expect_not_ready("full")?;
    thread::sleep(world.scaled(60.0));
    world.kill_dac()?;
    world.start_dac()?;
    disk.fill()?;
    world.expect_not_ready("full")?;
    disk.make_room()?;
    world.recover()?;
    world.judge()
}

fn file_too_large(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let dac = Pid::from_raw(world.dac()?.id().cast_signed());
    let unlimited = rustix::process::getrlimit(Resource::Fsize);
    // The log of the DAC is a file too: it loses lines, and nothing else.
    prlimit(dac, Resource::Fsize, Rlimit { current: Some(1), maximum: unlimited.maximum })
        .context("the limit may not be changed")?;
    world.expect_not_ready("archive")?;
    thread::sleep(world.scaled(60.0));
    prlimit(dac, Resource::Fsize, unlimited).context("the limit may not be changed")?;
    world.recover()
}

/// Attaches strace, or notes why it cannot.
fn injected(world: &mut World, fault: SyncFault) -> anyhow::Result<Option<BadSyncs>> {
    match BadSyncs::inject(world.dac()?.id(), fault) {
        Ok(bad) => Ok(Some(bad)),
        Err(error) => {
            world.outcome.skipped = Some(format!("{error:#}"));
            Ok(None)
        }
    }
}

fn failing_syncs(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let Some(bad) = injected(world, SyncFault::Fails)? else { return Ok(()) };
    world.expect_not_ready("archive")?;
    thread::sleep(world.scaled(60.0));
    world.expect_not_ready("archive")?;
    drop(bad);
    world.recover()
}

fn hanging_syncs(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let Some(bad) = injected(world, SyncFault::Hangs)? else { return Ok(()) };
    world.expect_not_ready("has not returned")?;
    thread::sleep(world.scaled(120.0));
    drop(bad);
    world.recover()
}

fn kill_in_failing_syncs(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    for _ in 0..world.repeated(50) {
        let Some(bad) = injected(world, SyncFault::Fails)? else { return Ok(()) };
        thread::sleep(world.random.millis(0..500));
        world.kill_dac()?;
        drop(bad);
        world.start_dac()?;
        world.recover()?;
    }
    Ok(())
}

fn term_in_hang(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let Some(bad) = injected(world, SyncFault::Hangs)? else { return Ok(()) };
    world.expect_not_ready("has not returned")?;
    world.dac()?.signal(Signal::TERM)?;
    until("the DAC has ended after SIGTERM", RECOVERY_TIMEOUT, || {
        world.dac().is_ok_and(DacProcess::is_over).then_some(()).ok_or("it runs")
    })?;
    // A traced thread keeps its process from being waited for.
    drop(bad);
    let status = world.terminate_dac()?;
    // The DAC could not store everything, and must report a failure.
    if status.success() {
        world.outcome.failures.push("the DAC ended with success, although its disk hung".into());
    }
    world.start_dac()?;
    world.recover()
}

fn damaged_file(world: &mut World) -> anyhow::Result<()> {
    world.outcome.justified.push("damaged");
    world.settings.more = "segment_bytes = 65536\n".into();
    world.start_pair()?;
    let closed = until("a file is closed", RECOVERY_TIMEOUT, || {
        let first = world.settings.archive.join("0000000001.oseg");
        let second = world.settings.archive.join("0000000002.oseg");
        second.exists().then_some(first).ok_or("none")
    })?;
    world.settle()?;
    world.stop_dac()?;
    let mut bytes = fs::read(&closed)?;
    // In the middle: neither the head of the file nor the last record.
    let middle = bytes.len() / 2;
    for offset in 0..8 {
        bytes[middle + offset] ^= 1 + world.random.within(0..255) as u8;
    }
    fs::write(&closed, bytes)?;
    world.start_dac()?;
    world.recover()
}
