//! All shards: started, given their connections, ended.

use super::{
    inbox::{Event, Inbox, Newcomer},
    shard::{INBOX, Shard, Surroundings},
};
use mio::{Poll, Waker};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// Clients hear of changes in the registry at most this often.
const REGISTRY_PAUSE: Duration = Duration::from_millis(100);

/// The ways to all shards. When it is dropped they end.
#[derive(Debug)]
pub struct Shards {
    inboxes: Vec<Arc<Inbox>>,
    next: AtomicUsize,
}

impl Shards {
    /// Starts the configured number of threads.
    pub fn start(around: &Surroundings) -> io::Result<Self> {
        let inboxes =
            (0..around.config.shards()).map(|number| start(around, number)).collect::<io::Result<_>>()?;
        Ok(Self { inboxes, next: AtomicUsize::new(0) })
    }

    /// Passes a connection to one of the shards, in turn.
    pub fn accept(&self, newcomer: Newcomer) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.inboxes.len().max(1);
        if let Some(inbox) = self.inboxes.get(turn) {
            inbox.post(Event::Newcomer(Box::new(newcomer)));
        }
    }

    /// Notifies every client that the DAC shuts down.
    pub fn end(&self) {
        self.inboxes.iter().for_each(|inbox| inbox.post(Event::End));
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        self.end();
    }
}

fn start(around: &Surroundings, number: usize) -> io::Result<Arc<Inbox>> {
    let poll = Poll::new()?;
    let inbox = Arc::new(Inbox::new(Waker::new(poll.registry(), INBOX)?));
    let shard = Shard::new(around.clone(), poll, inbox.clone());
    thread::Builder::new().name(format!("oasis-shard-{number}")).spawn(move || shard.run())?;
    let (weak_inbox, mut registry) = (Arc::downgrade(&inbox), around.dac.registry.watch());
    around.runtime.spawn(async move {
        while registry.changed().await.is_ok() {
            let Some(inbox) = weak_inbox.upgrade() else { return };
            inbox.post(Event::Registry);
            tokio::time::sleep(REGISTRY_PAUSE).await;
        }
    });
    Ok(inbox)
}
