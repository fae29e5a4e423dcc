//! Sends what earlier processes of this node left in the file spool: each as the run that it was, oldest first, before this process
//! sends anything of its own. The DAC's ledger goes on with that run where it stopped, and knows what it already has.

use crate::{
    file_spool::{Directory, Journal},
    node::spawn,
    outbox::{Outbox, Progress},
    shipper::{Attempts, Orders},
    spool::Spool,
};
use oasis_channel::Connector;
use std::{fs, io, path::Path, sync::Arc};

/// Refusals in a row after which a run has to wait for the next start: what the DAC does not take from it would keep back everything that follows.
const MAX_REFUSALS: u32 = 10;

/// Sends all that was left; returns early if the node ends.
pub fn all(connector: &mut dyn Connector, directory: &Arc<Directory>, spool_bytes: usize, outbox: &Outbox) {
    let runs = directory.left_behind().unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read the spool directory: what earlier runs left is not sent");
        Vec::new()
    });
    for run in runs {
        if outbox.with(|held| held.closing) {
            return;
        }
        if let Err(error) = one(connector, directory, &run, spool_bytes, outbox) {
            tracing::warn!(run = %run.display(), %error, "what an earlier run left cannot be sent now; the next start tries again");
        }
    }
}

fn one(
    connector: &mut dyn Connector,
    directory: &Arc<Directory>,
    run: &Path,
    spool_bytes: usize,
    live: &Outbox,
) -> io::Result<()> {
    let Some(journal) = Journal::left_behind(directory.clone(), run.to_owned())? else {
        tracing::error!(run = %run.display(), "no segment of this run has a head that can be read: its samples are lost");
        return fs::remove_dir_all(run);
    };
    let head = journal.head();
    let announcement = head.announcement.clone();
    let states = announcement.instances.iter().map(|instance| instance.state);
    let progress = head.taken.iter().zip(states).map(|(&taken, state)| Progress { taken, state }).collect();
    let outbox = Outbox::finite(Spool::left_behind(spool_bytes, &head.delivered), progress);
    tracing::info!(node = %announcement.identity.name, run = %announcement.identity.run, "sending what an earlier run left");
    live.with(|held| held.replayed = Some(outbox.clone()));
    let spooler = {
        let outbox = outbox.clone();
        spawn("oasis-spooler", move || crate::spooler::run(&outbox, journal))?
    };
    let mut attempts = Attempts::default();
    let is_over = |attempts: &Attempts| {
        outbox.with(|held| held.closing || held.spool.is_empty()) || attempts.refusals >= MAX_REFUSALS
    };
    loop {
        attempts.once(connector, &announcement, &Orders::Refuse, &outbox);
        if is_over(&attempts) || attempts.pause(&outbox) {
            break;
        }
    }
    outbox.with(|held| held.ended = true);
    live.with(|held| held.replayed = None);
    // It removes the run if all of it is delivered.
    let _ = spooler.join();
    if attempts.refusals >= MAX_REFUSALS {
        tracing::error!(run = %run.display(), "the DAC refuses what an earlier run left: it stays in its file, and the next start tries again");
    }
    Ok(())
}
