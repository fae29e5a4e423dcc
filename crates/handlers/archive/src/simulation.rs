//! The recorder without its thread, for the simulation of `crates/sim`, which calls it step by step.

use crate::{
    NotStored,
    writer::{PendingWork, Writer},
};
use oasis_dac::Dac;
use oasis_health::Pulse;
use oasis_store::{WritableStore, opening::FolderLock, store::Store};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Stores what a DAC has received, at each call of a method.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer,
    store: Arc<Store>,
    pulse: Pulse,
    /// Released last.
    _lock: FolderLock,
}

impl Recorder {
    /// Creates the recorder of a DAC.
    pub fn new(dac: Arc<Dac>, writable: WritableStore) -> Self {
        let WritableStore { store, config, numbers, lock } = writable;
        let pulse = dac.health.watch("archive");
        let rules = config.clone();
        dac.keeping.set_archive(Some(Arc::new(move |node, name| rules.rule_for(node, name).is_some())));
        let writer = Writer::new(dac, store.clone(), config, numbers);
        Self { writer, store, pulse, _lock: lock }
    }

    /// Stores a round of samples, or everything. Returns whether nothing is left.
    ///
    /// # Errors
    /// If the disk is full or fails.
    pub fn store(&mut self, to_the_end: bool) -> Result<bool, NotStored> {
        Ok(self.writer.store_all(to_the_end, &self.pulse)? == PendingWork::Nothing)
    }

    /// Ends files that are full or old, and lists what is to be listed, as each second.
    pub fn maintain(&mut self) {
        self.writer.maintain();
    }

    /// Stores everything and seals the files, as at the end of a DAC.
    ///
    /// # Errors
    /// If not everything could be stored.
    pub fn finish(&mut self) -> Result<(), NotStored> {
        let stored = self.writer.finish(&mut mpsc::channel(1).1, &self.pulse);
        self.writer.list_received_while_stopped();
        stored
    }

    /// Returns the archive that it writes to.
    pub fn archive(&self) -> &Arc<Store> {
        &self.store
    }
}
