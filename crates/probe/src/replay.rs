//! Sends the batches that earlier processes of this node left in the file spool, before this process sends its own.
//! Each is sent as the run that it belongs to, oldest first. The DAC's ledger continues that run where it stopped,
//! and recognizes samples that it already has.

use crate::{
    byte_budget::ByteBudget,
    file_spool::{Directory, Journal},
    node::spawn,
    node_config::NodeConfig,
    outbox::Outbox,
    shipper::{Attempts, CommandHandling},
};
use oasis_channel::Connector;
use std::{fs, io, path::Path, sync::Arc};

/// Consecutive refusals after which a run waits for the next start: a run that the DAC refuses would block everything
/// after it.
const MAX_REFUSALS: u32 = 10;

/// Sends all earlier runs; returns early if the node shuts down.
pub fn all(connector: &mut dyn Connector, directory: &Arc<Directory>, config: &NodeConfig, outbox: &Outbox) {
    let runs = directory.earlier_runs().unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read the spool directory: batches of earlier runs are not sent");
        Vec::new()
    });
    for run in runs {
        if outbox.with(|held| held.closing) {
            return;
        }
        if let Err(error) = one(connector, directory, &run, config, outbox) {
            tracing::warn!(run = %run.display(), %error, "cannot send the batches of an earlier run: the next start of the node retries");
        }
    }
}

fn one(
    connector: &mut dyn Connector,
    directory: &Arc<Directory>,
    run: &Path,
    config: &NodeConfig,
    live: &Outbox,
) -> io::Result<()> {
    let Some(journal) = Journal::earlier_run(directory.clone(), run.to_owned())? else {
        tracing::error!(run = %run.display(), "no segment of an earlier run has a readable head: its samples are lost");
        return fs::remove_dir_all(run);
    };
    let announcement = journal.head().announcement.clone();
    let outbox = Outbox::for_earlier_run(&journal, config.spool_bytes);
    tracing::info!(node = %announcement.identity.name, run = %announcement.identity.run, "sending batches of an earlier run");
    live.with(|held| held.replayed = Some(outbox.clone()));
    let spooler = {
        let outbox = outbox.clone();
        spawn("oasis-spooler", move || crate::spooler::run(&outbox, journal))?
    };
    let mut attempts = Attempts::new(ByteBudget::new(config.max_bytes_per_second));
    let is_over = |attempts: &Attempts| {
        outbox.with(|held| held.closing || held.is_sent()) || attempts.refusals >= MAX_REFUSALS
    };
    loop {
        attempts.once(connector, &announcement, &CommandHandling::Refuse, &outbox);
        if is_over(&attempts) || attempts.pause(&outbox) {
            break;
        }
    }
    outbox.with(|held| held.ended = true);
    live.with(|held| held.replayed = None);
    // The spooler removes the run if nothing of it can be lost any more. Otherwise the next start sends it again.
    let _ = spooler.join();
    if attempts.refusals >= MAX_REFUSALS {
        tracing::error!(run = %run.display(), "DAC refuses the batches of an earlier run: they stay in their file until the next start of the node");
    }
    Ok(())
}
