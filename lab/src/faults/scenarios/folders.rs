//! Faults of the archive's folder under a DAC, or before it starts.

use super::Scenario;
use crate::faults::{
    system::{
        dac::{DacProcess, DacSettings},
        program::last_lines,
    },
    world::World,
};
use anyhow::Context;
use std::{
    fs, thread,
    time::{Duration, Instant},
};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "two-dacs",
        about: "a second DAC on the folder must not start, and changes nothing",
        is_quick: true,
        run: two_dacs,
    },
    Scenario {
        name: "newer-archive",
        about: "the catalogue is of a newer version: the DAC must not start, and changes nothing",
        is_quick: true,
        run: newer_archive,
    },
    Scenario {
        name: "folder-moved",
        about: "the archive's folder is renamed under the DAC for 60 s",
        is_quick: true,
        run: folder_moved,
    },
    Scenario {
        name: "folder-removed",
        about: "the archive's folder is removed under the DAC: nothing may be reported stored",
        is_quick: false,
        run: folder_removed,
    },
];

/// Longest for a DAC that cannot start to say so.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(20);

/// Starts a DAC that must refuse, with these words in its message.
fn expect_refusal(world: &mut World, settings: &DacSettings, words: &str) -> anyhow::Result<()> {
    let log = fs::File::create(settings.log())?;
    let mut child = settings.command()?.stdout(log.try_clone()?).stderr(log).spawn()?;
    let began = Instant::now();
    let mut ended = None;
    while ended.is_none() && began.elapsed() < REFUSAL_TIMEOUT {
        thread::sleep(Duration::from_millis(10));
        ended = child.try_wait()?;
    }
    let _ = child.kill();
    let _ = child.wait();
    let message = last_lines(&settings.log());
    match ended {
        None => world.outcome.failures.push("a DAC started that must not".into()),
        Some(status) if status.success() || !message.contains(words) => {
            world.outcome.failures.push(format!("{status} without {words:?}: {message}"));
        }
        Some(_) => {}
    }
    Ok(())
}

/// The settings of another DAC on the same archive.
fn another(world: &World) -> anyhow::Result<DacSettings> {
    let folder = world.folder().join("another");
    fs::create_dir_all(&folder)?;
    let any = "127.0.0.1:0".to_owned();
    Ok(DacSettings { folder, listen: any.clone(), channel: any, ..world.settings.clone() })
}

fn two_dacs(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let settings = another(world)?;
    for _ in 0..world.repeated(20) {
        expect_refusal(world, &settings, "open in another process")?;
    }
    world.recover()
}

fn newer_archive(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    world.stop_dac()?;
    let catalogue = rusqlite::Connection::open(world.settings.archive.join("catalogue.sqlite"))?;
    let version: u32 = catalogue.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    catalogue.pragma_update(None, "user_version", version + 1)?;
    let settings = another(world)?;
    expect_refusal(world, &settings, "unsupported version")?;
    catalogue.pragma_update(None, "user_version", version)?;
    drop(catalogue);
    world.start_dac()?;
    world.recover()
}

fn folder_moved(world: &mut World) -> anyhow::Result<()> {
    world.start_pair()?;
    let (here, away) = (world.settings.archive.clone(), world.folder().join("moved"));
    fs::rename(&here, &away)?;
    world.expect_not_ready("archive")?;
    expect_flush_refused(world)?;
    thread::sleep(world.scaled(60.0));
    fs::rename(&away, &here)?;
    world.recover()
}

fn folder_removed(world: &mut World) -> anyhow::Result<()> {
    // The stored samples are gone with the folder, and cannot be accounted for.
    world.is_unaccountable = true;
    world.start_pair()?;
    fs::remove_dir_all(&world.settings.archive).context("cannot remove the archive")?;
    world.expect_not_ready("archive")?;
    expect_flush_refused(world)?;
    let settings = another(world)?;
    let second = DacProcess::start(&settings);
    world.outcome.notes.insert("second_dac_started", u64::from(second.is_ok()));
    Ok(())
}

fn expect_flush_refused(world: &mut World) -> anyhow::Result<()> {
    let answer = world.dac()?.request("POST", "/api/v1/archive/flush", REFUSAL_TIMEOUT)?;
    if answer.status == 200 {
        world.outcome.failures.push(format!("a flush into a missing folder was answered {}", answer.body));
    }
    Ok(())
}
