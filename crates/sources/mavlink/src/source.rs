//! The source while it runs: threads of links, and one that makes samples of their bytes.

use crate::{
    MavlinkConfig,
    config::Checked,
    link::{Chunk, Link},
    receiver::{Receiver, ReceiverCounters},
    state,
};
use oasis_dac::now;
use oasis_handler::{Context, Failure, Handler, StateMetrics};
use serde_json::Value;
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver as Chunks, RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

/// Most reads of links that wait: each is a datagram, or some bytes of a line.
const MAX_WAITING_CHUNKS: usize = 1_024;
/// Longest wait for bytes, after which silent nodes are disconnected.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Receives MAVLink.
#[derive(Debug)]
pub struct MavlinkSource {
    config: MavlinkConfig,
    links: Vec<Link>,
    offline_after: Duration,
    counters: Mutex<ReceiverCounters>,
}

impl Handler for MavlinkSource {
    fn name(&self) -> &'static str {
        "mavlink"
    }

    fn run(&self, context: Context) -> Result<(), Failure> {
        let (sender, chunks) = sync_channel(MAX_WAITING_CHUNKS);
        thread::scope(|scope| {
            for (number, link) in self.links.iter().enumerate() {
                let (sender, stopping) = (sender.clone(), &context.stopping);
                let started = thread::Builder::new()
                    .name(format!("mavlink {number}"))
                    .spawn_scoped(scope, move || link.run(number, &sender, stopping));
                if let Err(error) = started {
                    // The threads that run end because the channel is closed.
                    drop(chunks);
                    return Err(Failure(format!("cannot start threads: {error}")));
                }
            }
            drop(sender);
            self.receive(&context, &chunks);
            Ok(())
        })
    }

    fn state(&self) -> Value {
        state::json(&self.links, &self.counters().clone())
    }

    fn metrics(&self) -> StateMetrics {
        StateMetrics {
            // `restarts` are those of vehicles: other handlers have their own under this name.
            counters: &[
                "links{address}.bytes",
                "frames",
                "signed_frames",
                "samples",
                "lost_samples",
                "refused_messages",
                "missing_frames",
                "late_frames",
                "damaged_frames",
                "incompatible_frames",
                "skipped_bytes",
                "frames_of_other_ways",
                "secret_messages",
                "unknown_messages{message}",
                "more_unknown_messages",
            ],
            gauges: &["nodes", "series"],
        }
    }

    fn problem(&self) -> Option<String> {
        state::problem(&self.links)
    }

    fn warnings(&self) -> Vec<String> {
        state::warnings(&self.counters().clone())
    }
}

impl MavlinkSource {
    /// Creates a source that does not run yet.
    pub(crate) fn new(config: MavlinkConfig, checked: Checked) -> Self {
        let links = checked.links.into_iter().map(Link::new).collect();
        Self { config, links, offline_after: checked.offline_after, counters: Mutex::default() }
    }

    fn receive(&self, context: &Context, chunks: &Chunks<Chunk>) {
        let mut receiver = Receiver::new(&self.config, context.dac.clone());
        let offline_after = u64::try_from(self.offline_after.as_nanos()).unwrap_or(u64::MAX);
        let mut polled = now().0;
        while !context.stopping.is_stopping() {
            match chunks.recv_timeout(POLL_INTERVAL) {
                Ok(first) => {
                    let others = chunks.try_iter().take(MAX_WAITING_CHUNKS);
                    for chunk in std::iter::once(first).chain(others) {
                        receiver.receive(chunk.way, &chunk.bytes, now().0);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let time = now().0;
            if u128::from(time.saturating_sub(polled)) >= POLL_INTERVAL.as_nanos() || time < polled {
                polled = time;
                receiver.poll(time, offline_after);
            }
            receiver.flush();
            self.counters().clone_from(receiver.counters());
        }
        receiver.end();
        self.counters().clone_from(receiver.counters());
    }

    fn counters(&self) -> MutexGuard<'_, ReceiverCounters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
