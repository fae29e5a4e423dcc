//! All shards: started, given their connections, started again after a panic, ended.

use super::{
    inbox::{Event, Inbox, Newcomer},
    shard::{INBOX, Shard, Surroundings},
};
use mio::{Poll, Waker};
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// Clients hear of changes in the registry at most this often.
const REGISTRY_PAUSE: Duration = Duration::from_millis(100);

/// Pause before a shard starts again.
const PAUSE: Duration = Duration::from_millis(200);

/// The ways to all shards. When it is dropped they end.
#[derive(Debug)]
pub struct Shards {
    homes: Vec<Arc<Home>>,
    next: AtomicUsize,
}

/// Where a shard is reached. After a panic it has another inbox: events for the connections that it had then are obsolete.
#[derive(Debug)]
struct Home {
    inbox: Mutex<Arc<Inbox>>,
    is_ending: AtomicBool,
}

impl Shards {
    /// Starts the configured number of threads.
    pub fn start(around: &Surroundings) -> io::Result<Self> {
        let homes =
            (0..around.config.shards()).map(|number| start(around, number)).collect::<io::Result<_>>()?;
        Ok(Self { homes, next: AtomicUsize::new(0) })
    }

    /// Passes a connection to one of the shards, in turn.
    pub fn accept(&self, newcomer: Newcomer) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.homes.len().max(1);
        if let Some(home) = self.homes.get(turn) {
            home.post(Event::Newcomer(Box::new(newcomer)));
        }
    }

    /// Notifies every client that the DAC shuts down.
    pub fn end(&self) {
        self.homes.iter().for_each(|home| home.end());
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        self.end();
    }
}

impl Home {
    fn post(&self, event: Event) {
        self.inbox().post(event);
    }

    fn end(&self) {
        // Before the event: a shard that starts again meanwhile looks at it.
        self.is_ending.store(true, Ordering::SeqCst);
        self.post(Event::End);
    }

    fn move_to(&self, inbox: &Arc<Inbox>) {
        *self.inbox() = inbox.clone();
        if self.is_ending.load(Ordering::SeqCst) {
            inbox.post(Event::End);
        }
    }

    fn inbox(&self) -> MutexGuard<'_, Arc<Inbox>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(around: &Surroundings, number: usize) -> io::Result<Arc<Home>> {
    let name = format!("oasis-shard-{number}");
    let mut shard = open(around)?;
    let home = Arc::new(Home { inbox: Mutex::new(shard.inbox()), is_ending: AtomicBool::new(false) });
    let (own, around) = (home.clone(), around.clone());
    thread::Builder::new().name(name.clone()).spawn(move || {
        // A shard that panics loses its connections, whose clients connect again.
        while catch_unwind(AssertUnwindSafe(|| shard.run(&name))).is_err() {
            tracing::error!(shard = %name, "a shard failed, restarting");
            shard = open_again(&around);
            own.move_to(&shard.inbox());
        }
    })?;
    Ok(home)
}

fn open_again(around: &Surroundings) -> Shard {
    loop {
        match open(around) {
            Ok(shard) => return shard,
            Err(error) => tracing::error!(%error, "a shard cannot be started"),
        }
        thread::sleep(PAUSE);
    }
}

/// A shard without connections that is notified of changes in the registry.
fn open(around: &Surroundings) -> io::Result<Shard> {
    let poll = Poll::new()?;
    let inbox = Arc::new(Inbox::new(Waker::new(poll.registry(), INBOX)?));
    let (weak_inbox, mut registry) = (Arc::downgrade(&inbox), around.dac.registry.watch());
    around.runtime.spawn(async move {
        while registry.changed().await.is_ok() {
            let Some(inbox) = weak_inbox.upgrade() else { return };
            inbox.post(Event::Registry);
            tokio::time::sleep(REGISTRY_PAUSE).await;
        }
    });
    Ok(Shard::new(around.clone(), poll, inbox))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Doors, config::DoorsConfig};
    use oasis_dac::{Config, Dac};

    #[tokio::test]
    async fn a_shard_that_panics_starts_again_with_another_inbox() {
        let config = DoorsConfig { shards: 1, ..DoorsConfig::default() };
        let doors = Doors::new(Dac::new(Config::default()), config, None).unwrap();
        let home = doors.shards.homes[0].clone();
        let before = home.inbox().clone();
        before.post(Event::Panic);
        while Arc::ptr_eq(&before, &home.inbox()) {
            tokio::task::yield_now().await;
        }
        // The thread that works again is watched again.
        while !doors.dac.health.findings().is_empty() {
            tokio::task::yield_now().await;
        }
        let thread = Arc::downgrade(&home);
        drop((home, doors));
        while thread.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    }
}
