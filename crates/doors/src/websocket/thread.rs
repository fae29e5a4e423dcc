//! The thread of one shard: started, started again after a panic, gone.

use super::{
    inbox::{Event, Inbox},
    roster::Roster,
    shard::{INBOX, Shard, SharedContext},
    shard_handle::ShardHandle,
};
use mio::{Poll, Waker};
use oasis_thread_priority::use_short_slices;
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

/// Clients hear of changes in the registry at most this often.
const REGISTRY_PAUSE: Duration = Duration::from_millis(100);

/// Pause before a shard starts again.
const RESTART_DELAY: Duration = Duration::from_millis(200);

/// Starts one more shard.
///
/// # Errors
/// If the system has no thread or no descriptor for it.
pub fn start(around: &SharedContext, roster: &Arc<Roster>) -> io::Result<()> {
    let number = roster.free_number();
    let name = format!("oasis-shard-{number}");
    let (poll, inbox) = open(around)?;
    let home = Arc::new(ShardHandle::new(number, around.dac.shards.open(number), inbox));
    let (own, around, all) = (home.clone(), around.clone(), roster.clone());
    thread::Builder::new().name(name.clone()).spawn(move || {
        use_short_slices();
        let mut poll = poll;
        // A shard that panics loses its connections, whose clients connect again.
        while catch_unwind(AssertUnwindSafe(|| {
            Shard::new(around.clone(), poll, own.clone(), all.clone()).run(&name);
        }))
        .is_err()
        {
            tracing::error!(shard = %name, "a shard failed, restarting");
            let (another, inbox) = open_again(&around);
            poll = another;
            own.move_to(&inbox);
        }
        all.remove(&own);
    })?;
    roster.add(home);
    Ok(())
}

fn open_again(around: &SharedContext) -> (Poll, Arc<Inbox>) {
    loop {
        match open(around) {
            Ok(opened) => return opened,
            Err(error) => tracing::error!(%error, "a shard cannot be started"),
        }
        thread::sleep(RESTART_DELAY);
    }
}

/// Returns the poll of a shard, and its inbox, which is notified of changes in the registry.
fn open(around: &SharedContext) -> io::Result<(Poll, Arc<Inbox>)> {
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
    Ok((poll, inbox))
}
