//! Opens the archive again after its folder was gone.

use crate::{
    Archive, NotStored,
    writer::{Request, Writer},
};
use oasis_dac::{Dac, now};
use oasis_handler::Context;
use oasis_store::{
    Account, Condition, Counters, FolderGone, OpenError, WritableStore, open_again, store::Store,
};
use oasis_wire::quantity::Offset;
use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::sync::mpsc;

/// Interval at which the folder is polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl Archive {
    /// Waits until the folder is there again and can be locked, and opens it. Refuses requests meanwhile. Returns nothing when it has to stop.
    pub(crate) async fn wait_for_folder(
        &self,
        context: &Context,
        requests: &mut mpsc::Receiver<Request>,
        gone: &FolderGone,
    ) -> Option<Writer> {
        // The folder may come back under this lock.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut look = tokio::time::interval(POLL_INTERVAL);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = look.tick() => {
                    let _call = context.pulse.begin("opening the archive again");
                    match self.open_again(&context.dac) {
                        Ok(writer) => return Some(writer),
                        Err(error) => self.note_gone(&error),
                    }
                }
                Some(request) = requests.recv() => request.refuse(Err(NotStored::Gone(gone.clone()))),
                () = context.stopping.stopped() => return None,
            }
        }
    }

    fn open_again(&self, dac: &Arc<Dac>) -> Result<Writer, OpenError> {
        let before = self.store();
        let WritableStore { store, numbers, lock, config } = open_again(&before, self.config.clone())?;
        inherit_counters(&before, &store);
        store.copies.continue_from(&before.copies);
        store.with_accounts(|accounts| {
            for instance in dac.registry.instances() {
                let Some(account) = before.account(instance.topic) else { continue };
                let names = (&*instance.node, &*instance.name);
                let stored = stored_until(&store, names, dac).unwrap_or_else(|error| {
                    tracing::warn!(%error, node = names.0, instance = names.1, "cannot tell what is stored");
                    None
                });
                accounts.insert(instance.topic, account_of(account, stored, instance.log.start()));
            }
        });
        self.numbers.continue_at(numbers.take());
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(lock);
        *self.store.write().unwrap_or_else(PoisonError::into_inner) = store.clone();
        tracing::warn!(path = %store.directory.display(), "the archive's folder is there again: opened it");
        Ok(Writer::new(dac.clone(), store, config, self.numbers.clone()))
    }

    /// Shows why the folder cannot be opened.
    fn note_gone(&self, error: &OpenError) {
        let detail = error.to_string();
        let store = self.store();
        let is_new = store.counters.lock().detail.as_ref() != Some(&detail);
        store.counters.lock().settle(Condition::Gone, Some(detail.clone()), now());
        if is_new {
            tracing::warn!(%detail, "the archive's folder cannot be opened again yet");
        }
    }
}

/// Continues the counters; totals are those of the folder.
fn inherit_counters(before: &Store, store: &Store) {
    let before = before.counters.lock().clone();
    let mut counters = store.counters.lock();
    let found = counters.clone();
    *counters = Counters {
        segments: found.segments,
        segment_bytes: found.segment_bytes,
        rollup_files: found.rollup_files,
        rollup_bytes: found.rollup_bytes,
        findings: found.findings,
        findings_forgotten: found.findings_forgotten,
        ..before
    };
}

/// Returns the offset after the last sample of an instance that the folder has of this epoch.
fn stored_until(
    store: &Store,
    (node, instance): (&str, &str),
    dac: &Dac,
) -> Result<Option<Offset>, oasis_store::ReadError> {
    let extents = store.extents(node, instance, 0)?;
    let of_epoch = extents.iter().filter(|extent| extent.series.epoch == dac.epoch());
    Ok(of_epoch.map(|extent| extent.end).max())
}

/// Continues an account after what the folder has. If it has nothing, storing begins anew with what the topic log still has.
fn account_of(before: Account, stored: Option<Offset>, start: Offset) -> Account {
    match stored {
        Some(stored_offset) => Account { stored_offset, ..before },
        None => Account { stored_offset: start, ..Account::default() },
    }
}
